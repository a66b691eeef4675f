"""Makes a library catalogue as XML, and a stylesheet for a sorted HTML report."""

from __future__ import annotations

import random

from common import folder, word, words, write_roles

STYLESHEET = """<?xml version="1.0"?>
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:output method="html" encoding="utf-8" indent="yes"/>
  <xsl:key name="by-subject" match="book" use="subject"/>
  <xsl:key name="by-author" match="book" use="author/@ref"/>
  <xsl:key name="authors" match="person" use="@id"/>
  <xsl:template match="/library">
    <html><head><title>Catalogue</title></head><body>
      <xsl:for-each select="book[generate-id() = generate-id(key('by-subject', subject)[1])]">
        <xsl:sort select="subject"/>
        <h2><xsl:value-of select="subject"/> (<xsl:value-of
            select="count(key('by-subject', subject))"/>)</h2>
        <table>
          <xsl:apply-templates select="key('by-subject', subject)">
            <xsl:sort select="@year" data-type="number" order="descending"/>
            <xsl:sort select="title"/>
          </xsl:apply-templates>
        </table>
      </xsl:for-each>
    </body></html>
  </xsl:template>
  <xsl:template match="book">
    <xsl:variable name="person" select="key('authors', author/@ref)"/>
    <tr id="{@id}">
      <td><xsl:value-of select="title"/></td>
      <td><xsl:value-of select="concat($person/family, ', ', $person/given)"/>
        <xsl:if test="count(key('by-author', author/@ref)) &gt; 3"> et passim</xsl:if></td>
      <td><xsl:call-template name="initials">
        <xsl:with-param name="text" select="normalize-space(abstract)"/>
      </xsl:call-template></td>
      <xsl:apply-templates select="abstract"/>
    </tr>
  </xsl:template>
  <xsl:template match="abstract"><td><xsl:apply-templates/></td></xsl:template>
  <xsl:template match="em"><i><xsl:apply-templates/></i></xsl:template>
  <xsl:template name="initials">
    <xsl:param name="text"/>
    <xsl:if test="string-length($text) &gt; 0">
      <xsl:value-of select="translate(substring($text, 1, 1),
        'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ')"/>
      <xsl:call-template name="initials">
        <xsl:with-param name="text" select="substring-after($text, ' ')"/>
      </xsl:call-template>
    </xsl:if>
  </xsl:template>
</xsl:stylesheet>
"""


def catalogue(rng: random.Random, books: int) -> str:
    people = books // 4
    lines = ['<?xml version="1.0"?>', "<library>"]
    for number in range(people):
        name = f"<given>{word(rng)}</given><family>{word(rng)}</family>"
        lines.append(f'<person id="p{number}">{name}</person>')
    for number in range(books):
        lines.append(
            f'<book id="b{number}" year="{rng.randrange(1900, 2020)}">'
            f'<title>{words(rng, 4)}</title><author ref="p{rng.randrange(people)}"/>'
            f"<subject>subject {rng.randrange(60)}</subject>"
            f"<abstract>{words(rng, 9)} <em>{word(rng)}</em> {words(rng, 3)}</abstract></book>"
        )
    return "\n".join([*lines, "</library>", ""])


def main() -> None:
    (folder() / "report.xsl").write_text(STYLESHEET)
    write_roles("xslt", "xml", catalogue, 9_000, 22_000)


if __name__ == "__main__":
    main()
