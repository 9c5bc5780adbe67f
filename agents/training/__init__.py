"""Training of local models: SFT, advantage-weighted regression, GRPO."""
