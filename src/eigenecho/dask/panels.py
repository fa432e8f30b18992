def fit_panel(*a):
    raise NotImplementedError
