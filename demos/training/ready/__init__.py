"""Small trained additions to the bundled model (LoRA and a head), which answer before anyone has trained."""
