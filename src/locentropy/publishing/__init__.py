"""From visits to a release: plan, check the budget, read, spend, draw, write."""
