/**
 * Decodes text of a server whose bytes may not be UTF-8, such as names of files that were added on Windows to a server without Unicode. Such
 * text keeps its bytes, each as a lone surrogate, so that it can be sent back; for people it is decoded. Pure.
 */
import { decodeBytes } from "../../domain/TextContent.ts"

/** Lone surrogates of the bytes from 0x80 on. */
const base = 0xdc00
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Decodes text of which each character up to U+00FF is a byte. */
export const readRaw = (binary: string): string =>
  binary.replace(/[\u0080-\u00ff]+/g, (bytes) => {
    try {
      return strict.decode(Buffer.from(bytes, "latin1"))
    } catch {
      return bytes.replace(/./gs, (char) => String.fromCharCode(base + char.charCodeAt(0)))
    }
  })

export const isRaw = (text: string): boolean => !text.isWellFormed()

/** Returns the bytes as the server has them. */
export const toBytes = (text: string): Buffer =>
  isRaw(text)
    ? Buffer.concat(
        [...text].map((char) => {
          const code = char.charCodeAt(0)
          return char.length === 1 && code >= base + 0x80 && code <= base + 0xff
            ? Buffer.from([code - base])
            : Buffer.from(char, "utf8")
        })
      )
    : Buffer.from(text, "utf8")

/** Returns the text for people. */
export const shownText = (text: string): string => (isRaw(text) ? decodeBytes(toBytes(text)) : text)
