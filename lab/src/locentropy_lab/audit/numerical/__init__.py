"""What neighbours cost at most, computed from the integers and scales that a mechanism really uses."""
