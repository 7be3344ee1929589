"""Scenes: drawn pictures of coloured shapes, with captions, questions with answers, and boxes.

Everything follows from the split and the number of a scene, so that there are as many as one wants, in any size, the
same on every machine. Some combinations of a colour and a shape never occur but in the split "recombined", where every
scene has one: whoever has learnt what "red" and "star" mean knows a red star.
"""

ABOUT = "built in: drawn shapes with captions, questions and boxes, any number of pictures"
SPLITS = ("train", "valid", "test", "recombined")
SIZES = ("64", "32", "96", "128")  # pixels of a side
