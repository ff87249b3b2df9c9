"""What an attacker can show from outputs alone: a lower bound on ε with a known confidence."""
