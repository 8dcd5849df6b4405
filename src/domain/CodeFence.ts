/** Tracks fenced blocks of Markdown line by line. The definition of a fence is the same for all texts. Pure. */
const fence = /^[\s>]*?(`{3,}(?!`)|~{3,}(?!~))([^`]*)$/

/** Returns the fence that is open after this line, including the first and last lines of a block; undefined outside of blocks. */
export const fenceAfter = (open: string | undefined, line: string): string | undefined => {
  const [, ticks = "", rest = ""] = fence.exec(line) ?? []
  if (open === undefined) return ticks === "" ? undefined : ticks
  return ticks.startsWith(open) && rest.trim() === "" ? undefined : open
}

/** Returns the line that closes the block in which a text ends; empty outside of blocks. */
export const closingFence = (text: string): string => {
  let open: string | undefined
  for (const line of text.split("\n")) open = fenceAfter(open, line)
  return open === undefined ? "" : `\n${open}`
}
