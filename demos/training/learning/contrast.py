"""Learning from few examples: the loss of all pairs in a batch, and a logistic regression as a linear head.

As SetFit does (Tunstall et al. 2022, *Efficient Few-Shot Learning Without Prompts*, section 3), but that the pairs are
all those of a batch and not drawn one by one.
"""

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.linear_model import LogisticRegression
from torch import nn

MOST_ITERATIONS = 1_000


def pair_loss(vectors: torch.Tensor, classes: torch.Tensor) -> torch.Tensor:
    """The squared errors of the cosines of a batch's pairs against 1 (same class) and 0 (other class).

    vectors [batch, d], classes [batch]. The mean over the pairs of one class and that over all others count alike.
    0 where there is no pair.
    """
    first, second = torch.triu_indices(len(classes), len(classes), offset=1, device=vectors.device)
    same = classes[first] == classes[second]
    errors = (F.cosine_similarity(vectors[first], vectors[second]) - same.float()).square()
    means = [errors[kind].mean() for kind in (same, ~same) if kind.any()]
    return torch.stack(means).mean() if means else vectors.sum() * 0


def fit_linear(linear: nn.Linear, vectors: np.ndarray, classes: np.ndarray) -> None:
    """Give this layer the weights of scikit-learn's LogisticRegression on vectors [m, d] and classes [m], 0 to C - 1.

    Softmax over its outputs is the regression's probabilities: of two classes the one's logits are the other's negated.
    """
    fitted = LogisticRegression(max_iter=MOST_ITERATIONS).fit(vectors, classes)
    weight, bias = fitted.coef_, fitted.intercept_
    if len(weight) == 1:
        weight, bias = np.concatenate([-weight, weight]) / 2, np.concatenate([-bias, bias]) / 2
    with torch.no_grad():
        linear.weight.copy_(torch.from_numpy(weight))
        linear.bias.copy_(torch.from_numpy(bias))
