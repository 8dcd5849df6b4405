/**
 * Parses the XML of WeCom: elements, text, CDATA and the five entities. Refuses a DTD, processing instructions other than the declaration,
 * deep nesting and many elements. Attributes are skipped. Reads each character a constant number of times.
 */
export interface XmlElement {
  readonly name: string
  readonly text: string
  readonly children: ReadonlyArray<XmlElement>
}

const maxDepth = 6
const maxElements = 500

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }

/** Undefined if the text contains an unknown entity. */
const decodeEntities = (text: string): string | undefined => {
  if (!text.includes("&")) return text
  const [first = "", ...rest] = text.split("&")
  const parts = [first]
  for (const part of rest) {
    const end = part.indexOf(";")
    const entity = end < 1 || end > 4 ? undefined : entities[part.slice(0, end)]
    if (entity === undefined) return undefined
    parts.push(entity, part.slice(end + 1))
  }
  return parts.join("")
}

interface Building {
  readonly name: string
  readonly texts: Array<string>
  readonly children: Array<XmlElement>
}

const cdata = "<![CDATA["
const tagName = /^[A-Za-z_][\w.-]{0,63}(?=[\s/]|$)/

class XmlReader {
  readonly #xml: string
  readonly #open: Array<Building> = []
  #at = 0
  #elements = 0
  #root: XmlElement | undefined

  constructor(xml: string) {
    this.#xml = xml
  }

  /** Returns the root element; undefined if the text is not well-formed or uses what is refused. */
  read(): XmlElement | undefined {
    if (this.#xml.startsWith("<?xml")) this.#at = this.#xml.indexOf("?>") + 2
    if (this.#at === 1) return undefined
    while (this.#at < this.#xml.length) if (!this.#step()) return undefined
    return this.#open.length === 0 ? this.#root : undefined
  }

  #step(): boolean {
    const next = this.#xml.indexOf("<", this.#at)
    const end = next === -1 ? this.#xml.length : next
    if (end > this.#at && !this.#addText(this.#xml.slice(this.#at, end))) return false
    this.#at = end
    return next === -1 || this.#markup()
  }

  #addText(raw: string): boolean {
    const parent = this.#open.at(-1)
    if (parent === undefined) return raw.trim() === ""
    const text = decodeEntities(raw)
    if (text !== undefined) parent.texts.push(text)
    return text !== undefined
  }

  #markup(): boolean {
    if (this.#xml.startsWith(cdata, this.#at)) return this.#cdata()
    const end = this.#xml.indexOf(">", this.#at)
    if (end === -1) return false
    const inner = this.#xml.slice(this.#at + 1, end)
    this.#at = end + 1
    if (inner.startsWith("/")) return this.#close(inner.slice(1).trim())
    const name = tagName.exec(inner)?.[0]
    if (name === undefined || !this.#begin(name)) return false
    return inner.endsWith("/") ? this.#close(name) : true
  }

  #cdata(): boolean {
    const parent = this.#open.at(-1)
    const end = this.#xml.indexOf("]]>", this.#at)
    if (parent === undefined || end === -1) return false
    parent.texts.push(this.#xml.slice(this.#at + cdata.length, end))
    this.#at = end + 3
    return true
  }

  #begin(name: string): boolean {
    if (this.#root !== undefined || this.#open.length >= maxDepth || ++this.#elements > maxElements) return false
    this.#open.push({ name, texts: [], children: [] })
    return true
  }

  #close(name: string): boolean {
    const built = this.#open.pop()
    if (built === undefined || built.name !== name) return false
    const element: XmlElement = { name, text: built.texts.join(""), children: built.children }
    const parent = this.#open.at(-1)
    if (parent === undefined) this.#root = element
    else parent.children.push(element)
    return true
  }
}

export const parseXml = (xml: string): XmlElement | undefined => new XmlReader(xml).read()

/** Returns the text of the first child with this name. */
export const childText = (element: XmlElement, name: string): string | undefined =>
  element.children.find((child) => child.name === name)?.text
