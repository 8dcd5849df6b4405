/** The parser of WeCom's XML accepts what the platform sends, up to each of its limits, and nothing else. */
import { expect, it } from "vitest"
import { childText, parseXml } from "../../../src/chat/wecom/Xml.ts"

const nested = (depth: number) => `${"<a>".repeat(depth)}x${"</a>".repeat(depth)}`
const children = (count: number) => `<xml>${"<a/>".repeat(count)}</xml>`

it("elements, text, CDATA, entities and attributes are read", () => {
  const xml = parseXml(
    '<?xml version="1.0"?>\n<xml><A b="c">1 &lt;&amp;&gt;</A><B><![CDATA[<C>&x;]]> 2</B><E/></xml>\n'
  )
  if (xml === undefined) throw new Error("refused")
  expect(["A", "B", "E", "C"].map((name) => childText(xml, name))).toEqual(["1 <&>", "<C>&x; 2", "", undefined])
})

it("six levels and 500 elements are read, and not one more", () => {
  expect([parseXml(nested(6))?.name, parseXml(nested(7))]).toEqual(["a", undefined])
  expect([parseXml(children(499))?.children.length, parseXml(children(500))]).toEqual([499, undefined])
})

it.each([
  ["a document type", '<!DOCTYPE xml [<!ENTITY a "b">]><xml>x</xml>'],
  ["an external document type", '<!DOCTYPE xml SYSTEM "file:///etc/passwd"><xml>x</xml>'],
  ["an entity of its own", "<xml>&a;</xml>"],
  ["a numeric entity", "<xml>&#65;</xml>"],
  ["an entity without an end", "<xml>a & b</xml>"],
  ["a processing instruction", "<xml><?php x?></xml>"],
  ["a comment", "<xml><!-- x --></xml>"],
  ["two roots", "<xml>1</xml><xml>2</xml>"],
  ["text outside of the root", "<xml>1</xml>2"],
  ["CDATA outside of the root", "<![CDATA[1]]><xml>2</xml>"],
  ["another end", "<xml><a>1</b></xml>"],
  ["no end", "<xml><a>1</a>"],
  ["only an end", "</xml>"],
  ["an open CDATA", "<xml><![CDATA[1</xml>"],
  ["a declaration without an end", "<?xml <xml>1</xml>"],
  ["nothing", ""]
])("%s is refused", (_, xml) => {
  expect(parseXml(xml)).toBeUndefined()
})
