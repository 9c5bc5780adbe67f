"""Off-policy evaluation: what a policy would earn, estimated from dialogues that another one held."""
