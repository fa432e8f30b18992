"""Classification of series by pooled features of linear modes."""

from eigenecho.classify.classifier import LinearClassifier, fit_classifier, per_class
from eigenecho.classify.features import PooledModes, fit_modes
