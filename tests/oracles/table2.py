"""Table 2 of To, Nguyen and Shahabi (SIGSPATIAL 2016), natural logarithms."""

SPARSE = {
    "max": 9.93,
    "min": 1.19,
    "mean": 3.19,
    "variance": 1.01,
    "locations_per_user": 19.28,
    "users_per_location": 192.9,
    "visits_per_user": 2576,
}
DENSE = {"max": 14.53, "min": 6.70, "mean": 7.79, "variance": 0.98}
# The paper's mean and variance leave out the locations of a single user.
GOWALLA_NY = {
    "locations": 14_058,
    "users": 5_800,
    "max": 6.45,
    "mean": 1.45,
    "variance": 0.6,
    "max_locations_per_user": 1407,
    "locations_per_user": 13.5,
    "max_visits": 162,
}
