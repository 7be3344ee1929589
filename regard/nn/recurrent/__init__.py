"""What reads a sequence step by step: recurrent layers, intra-attention, temporal convolutions, a memory of slots."""
