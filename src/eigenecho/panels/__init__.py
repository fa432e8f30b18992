"""Series as people hold them: read into panels of numbers, kept on their clocks, given back."""
