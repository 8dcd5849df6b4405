/** Encodes text for tests: Node decodes these encodings, and encodes none of them. */

const tables = new Map<string, ReadonlyMap<string, Buffer>>()

const makeTable = (encoding: string): ReadonlyMap<string, Buffer> => {
  const decoder = new TextDecoder(encoding, { fatal: true })
  const table = new Map<string, Buffer>()
  const add = (bytes: Buffer) => {
    try {
      const text = decoder.decode(bytes)
      if ([...text].length === 1 && !table.has(text)) table.set(text, bytes)
    } catch {
      // Not a character of the encoding.
    }
  }
  for (let first = 0; first < 256; first++) add(Buffer.from([first]))
  for (let first = 0x81; first < 0xff; first++)
    for (let second = 0x40; second < 0xff; second++) add(Buffer.from([first, second]))
  return table
}

/** Fails for a character that is not in the encoding. */
export const encode = (encoding: string, text: string): Buffer => {
  const table = tables.get(encoding) ?? makeTable(encoding)
  tables.set(encoding, table)
  return Buffer.concat(
    [...text].map((char) => {
      const bytes = table.get(char)
      if (bytes === undefined) throw new Error(`${char} is not in ${encoding}`)
      return bytes
    })
  )
}
