/** Code compared apart from its layout: two lines are the same when they differ in white space only. Pure. */

export const squeeze = (code: string): string => code.replace(/\s+/g, "")

/** Counts letters and digits of a squeezed text, as a measure of its information: `});` has none, `return null` has some. */
export const weight = (squeezed: string): number => squeezed.match(/[\p{L}\p{N}]/gu)?.length ?? 0

/** Computes `squeeze(line.slice(from)) === squeezed` without allocating strings, because it runs on every line of a file. */
export const isSqueezed = (line: string, from: number, squeezed: string): boolean => {
  let at = 0
  for (let i = from; i < line.length; i++) {
    const code = line.charCodeAt(i)
    if (isSpace(code)) continue
    if (code !== squeezed.charCodeAt(at)) return false
    at++
  }
  return at === squeezed.length
}

export const isBlank = (line: string, from: number): boolean => isSqueezed(line, from, "")

/** Whether `\s` matches the character. */
const isSpace = (code: number): boolean => {
  if (code < 128) return code === 32 || (code >= 9 && code <= 13)
  if (code === 0xa0 || code === 0x1680 || code === 0x202f || code === 0x205f || code === 0x3000) return true
  return (code >= 0x2000 && code <= 0x200a) || code === 0x2028 || code === 0x2029 || code === 0xfeff
}
