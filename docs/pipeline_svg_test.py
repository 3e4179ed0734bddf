"""docs/pipeline.svg is what docs/pipeline_svg.py draws of the table of passes/README.md."""

import sys
import unittest
import xml.etree.ElementTree

import pipeline_svg


def read(path):
    with open(path, encoding="utf-8") as source:
        return source.read()


class Picture(unittest.TestCase):
    def test_it_is_up_to_date(self):
        table, picture = read(sys.argv[1]), read(sys.argv[2])
        self.assertEqual(
            picture, pipeline_svg.draw(table),
            "run: python3 docs/pipeline_svg.py passes/README.md > docs/pipeline.svg")

    def test_it_shows_every_pass(self):
        names = [name for name, _, _ in pipeline_svg.passes(read(sys.argv[1]))]
        self.assertGreater(len(names), 5)
        shown = "".join(xml.etree.ElementTree.fromstring(read(sys.argv[2])).itertext())
        self.assertEqual([name for name in names if name not in shown], [])

    def test_another_table_is_another_picture(self):
        table = read(sys.argv[1])
        self.assertNotEqual(pipeline_svg.draw(table),
                            pipeline_svg.draw(table.replace("[expand](expand)", "[widen](widen)")))
