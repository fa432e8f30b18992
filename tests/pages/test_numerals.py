"""Numbers of a column have the same number of decimals."""

import numpy as np

from eigenecho.pages import format_numbers


def test_smallest_number_has_three_digits():
    assert format_numbers([1.23456, 12.3456, 0.0]) == ["1.23", "12.35", "0.00"]
    assert format_numbers([1234.5, 99.99]) == ["1\u202f234.5", "100.0"]
    assert format_numbers([150.0, 1234.56]) == ["150", "1\u202f235"]
    assert format_numbers([100.0, 200.0], finest=0.05) == ["100.0000", "200.0000"]


def test_numbers_without_common_decimals():
    assert format_numbers([np.nan, 2.0]) == ["–", "2.00"]
    assert format_numbers([1e-9, 1.0]) == ["1e-09", "1"]
    assert format_numbers([3e12]) == ["3e+12"]
    assert format_numbers([]) == []
    assert format_numbers([0.0]) == ["0.00"]
