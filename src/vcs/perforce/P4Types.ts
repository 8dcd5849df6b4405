/** Types and actions of file revisions. Pure. */

export interface P4Revision {
  /** Depot syntax, with the revision: `//depot/a.c#3`, `//depot/a.c@=12` of a shelf. */
  readonly spec: string
  readonly depotFile: string
  readonly type: string
  readonly bytes: number | undefined
  readonly digest: string | undefined
}

const deletes = new Set(["delete", "move/delete"])
/** The content of these revisions is not on the server. */
const withoutContent = new Set(["purge", "archive"])

export const isDeleted = (action: string): boolean => deletes.has(action)
export const hasContent = (action: string): boolean => !withoutContent.has(action)

/** Type without modifiers: `text+kx` is `text`, the older name `kxtext` too. */
const baseOf = (type: string): string => type.split("+", 1)[0] ?? type
const modifiersOf = (type: string): string => (type.includes("+") ? (type.split("+", 2)[1] ?? "") : "")

const executables = new Set(["xtext", "kxtext", "xbinary", "xltext", "xunicode", "xutf16", "xtempobj"])

export const isSymlink = (type: string): boolean => baseOf(type) === "symlink"
export const isBinary = (type: string): boolean =>
  [
    "binary",
    "ubinary",
    "xbinary",
    "cbinary",
    "uxbinary",
    "tempobj",
    "ctempobj",
    "xtempobj",
    "apple",
    "uresource",
    "resource"
  ].includes(baseOf(type))
export const isUtf16 = (type: string): boolean => baseOf(type).endsWith("utf16")

/** Mode in git's notation. */
export const toMode = (type: string): string =>
  isSymlink(type) ? "120000" : executables.has(baseOf(type)) || modifiersOf(type).includes("x") ? "100755" : "100644"

/** UTF-16 in UTF-8, which has lines for git. */
export const toUtf8 = (content: Buffer): Buffer => {
  const [first, second] = content
  if (first === 0xff && second === 0xfe) return Buffer.from(new TextDecoder("utf-16le").decode(content), "utf8")
  if (first === 0xfe && second === 0xff) return Buffer.from(new TextDecoder("utf-16be").decode(content), "utf8")
  return content
}
