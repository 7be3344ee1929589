"""The parts that models are built of. One shape legend holds in the whole repository:

`B` batch, `T` length (queries), `S` source length (keys), `H` heads, `G` key-value heads, `D` width, `K` width of a
head, `V` vocabulary.
"""
