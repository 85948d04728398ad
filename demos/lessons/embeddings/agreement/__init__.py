"""Agreement with people:

Spearman's correlation with human ratings for every pooling and layer, and the worst errors.
"""
