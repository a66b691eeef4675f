"""Makes a manual as XML, and a stylesheet for its HTML: numbers, references, contents, an index."""

from __future__ import annotations

from common import folder, write_roles
from xmllint import manual

STYLESHEET = """<?xml version="1.0"?>
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:output method="html" encoding="utf-8" indent="no"/>
  <xsl:key name="sections" match="section" use="@id"/>
  <xsl:key name="terms" match="term" use="."/>
  <xsl:template match="/manual">
    <html><head><title><xsl:value-of select="title"/></title></head><body>
      <xsl:apply-templates select="chapter" mode="contents"/>
      <xsl:apply-templates select="chapter"/>
      <h1>Index</h1>
      <xsl:for-each select="//term[generate-id() = generate-id(key('terms', .)[1])]">
        <xsl:sort select="."/>
        <p><xsl:value-of select="."/>
          <xsl:for-each select="key('terms', .)[position() &lt; 9]">
            <xsl:text>, </xsl:text><xsl:value-of select="ancestor::section/@id"/>
          </xsl:for-each>
        </p>
      </xsl:for-each>
    </body></html>
  </xsl:template>
  <xsl:template match="chapter" mode="contents">
    <ol><xsl:for-each select="section">
      <xsl:sort select="count(.//para)" data-type="number" order="descending"/>
      <li><a href="#{@id}"><xsl:value-of select="title"/></a></li>
    </xsl:for-each></ol>
  </xsl:template>
  <xsl:template match="section">
    <h2 id="{@id}"><xsl:value-of select="concat(@id, ' ', title)"/>
      <xsl:if test="@level = 'expert'"> (for experts)</xsl:if></h2>
    <xsl:apply-templates select="*[not(self::title)]"/>
  </xsl:template>
  <xsl:template match="para"><p><xsl:apply-templates/></p></xsl:template>
  <xsl:template match="em | term"><i><xsl:apply-templates/></i></xsl:template>
  <xsl:template match="code"><tt><xsl:value-of select="normalize-space()"/></tt></xsl:template>
  <xsl:template match="ref">
    <a href="#{@to}"><xsl:value-of select="key('sections', @to)/title"/></a>
  </xsl:template>
  <xsl:template match="note">
    <sup><xsl:number level="any" from="chapter"/></sup><small><xsl:apply-templates/></small>
  </xsl:template>
  <xsl:template match="list"><ul><xsl:apply-templates select="item"/></ul></xsl:template>
  <xsl:template match="item"><li><xsl:apply-templates/></li></xsl:template>
  <xsl:template match="table"><table><xsl:for-each select="row">
    <tr><xsl:for-each select="cell">
      <td><xsl:value-of select="substring-before(., ' ')"/></td>
    </xsl:for-each></tr>
  </xsl:for-each></table></xsl:template>
  <xsl:template match="listing"><pre><xsl:value-of select="."/></pre></xsl:template>
</xsl:stylesheet>
"""

if __name__ == "__main__":
    (folder() / "manual.xsl").write_text(STYLESHEET)
    write_roles("xalan", "xml", manual, 60, 280)
