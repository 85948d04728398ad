"""Maps: hundreds of vectors in two or three dimensions by PCA, t-SNE or UMAP, and the quality of each map."""
