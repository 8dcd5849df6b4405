/** Reads the XML of svn as it streams. Elements are reported when they end, with their attributes and text. */
import { SaxesParser } from "saxes"

export interface SvnElement {
  readonly name: string
  /** Names of the elements that contain it, the outermost first. */
  readonly within: ReadonlyArray<string>
  readonly attributes: Readonly<Record<string, string>>
  readonly text: string
}

export interface XmlReader {
  readonly push: (bytes: Uint8Array) => void
  /** Throws for text that is not well formed. */
  readonly end: () => void
}

interface Open {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  text: string
}

/** Characters of one text; the rest is dropped. */
const maxText = 1_048_576
/** Bytes of a text, a tag or a comment: the parser keeps each until its end. */
const maxPendingBytes = 4_194_304
/** Maximum depth, above that of the replies of svn. */
const maxDepth = 32

export const makeXmlReader = (handle: {
  readonly start?: (element: Omit<SvnElement, "text">) => void
  readonly end: (element: SvnElement) => void
}): XmlReader => {
  const open: Array<Open> = []
  const decoder = new TextDecoder()
  let pendingBytes = 0
  const parser = new SaxesParser({ xmlns: false, position: false })
  parser.on("error", (error) => {
    throw error
  })
  // svn writes none; entities of a document type could expand without a limit.
  parser.on("doctype", () => {
    throw new Error("a document type")
  })
  parser.on("opentag", ({ attributes, name }) => {
    pendingBytes = 0
    if (open.length >= maxDepth) throw new Error("elements are nested too deep")
    const given: Record<string, string> = Object.create(null)
    for (const [key, value] of Object.entries(attributes)) given[key] = String(value)
    handle.start?.({ name, within: open.map((one) => one.name), attributes: given })
    open.push({ name, attributes: given, text: "" })
  })
  parser.on("text", (text) => {
    const element = open.at(-1)
    if (element !== undefined && element.text.length < maxText) element.text += text
  })
  parser.on("closetag", () => {
    pendingBytes = 0
    const element = open.pop()
    if (element !== undefined) handle.end({ ...element, within: open.map((one) => one.name) })
  })
  return {
    push: (bytes) => {
      pendingBytes += bytes.length
      parser.write(decoder.decode(bytes, { stream: true }))
      if (pendingBytes > maxPendingBytes) throw new Error(`a text of over ${maxPendingBytes / 1_048_576} MiB`)
    },
    end: () => {
      parser.write(decoder.decode())
      parser.close()
    }
  }
}
