/**
 * Commands in comments (decisions 2.3): `/aicr review` or `/review`, `/aicr help`, `/aicr cancel`, as words of their own, in any
 * case. Another word after `/aicr` at the start of a line is a request for help. Quoted lines and code are somebody else's words and do not count; a comment with our hidden marker is our own.
 */
export type Command = "review" | "help" | "cancel"

/** How every hidden marker of ours begins (decisions section 8). */
const marker = "<!-- aicr:v1"

const command = /(?:^|\s)\/(?:aicr[ \t]+(review|help|cancel)|(review))(?=$|[\s.,;:!?])/i
/** A word that is no command, where a command would be: who wrote it gets the list of commands. */
const unknownWord = /^\s*\/aicr[ \t]+[a-z][\w-]{0,40}(?=$|[\s.,;:!?])/i
const commandName: Readonly<Record<string, Command>> = { review: "review", help: "help", cancel: "cancel" }

export const isOwnComment = (body: string): boolean => body.includes(marker)

/** The first command of a comment, else help where it tries to give one, undefined when it has none. */
export const findCommand = (body: string): Command | undefined => {
  let fence: string | undefined
  let isTried = false
  for (const line of body.split("\n")) {
    const opening = /^ {0,3}(```+|~~~+)/.exec(line)?.[1]
    if (opening !== undefined && (fence === undefined || opening.startsWith(fence))) {
      fence = fence === undefined ? opening : undefined
      continue
    }
    if (fence !== undefined || /^ {0,3}>/.test(line)) continue
    const text = line.replaceAll(/`[^`]*`/g, "``")
    const found = command.exec(text)
    const name = found?.[1] ?? found?.[2]
    if (name !== undefined) return commandName[name.toLowerCase()]
    isTried ||= unknownWord.test(text)
  }
  return isTried ? "help" : undefined
}
