"""What a layer is told beside its input: geometry and masks, what is kept, who watches, and what is gathered."""
