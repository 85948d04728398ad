"""Maps: hundreds of vectors in two or three dimensions by PCA, t-SNE or UMAP, and how far each map can be trusted."""
