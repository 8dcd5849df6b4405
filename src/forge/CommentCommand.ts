/**
 * Commands in comments: `/aicr review` or `/review`, `/aicr help`, `/aicr cancel`, as separate words in upper or lower case. An
 * unknown word after `/aicr` at the start of a line is a request for help. Quoted lines and code are ignored, as is a comment
 * with the hidden marker of the service, which is its own.
 */
export type Command = "review" | "help" | "cancel"

/** Prefix of every hidden marker that the service writes. */
const marker = "<!-- aicr:v1"

const command = /(?:^|\s)\/(?:aicr[ \t]+(review|help|cancel)|(review))(?=$|[\s.,;:!?])/i
/** Matches an unknown word in the position of a command; its author gets the list of commands. */
const unknownWord = /^\s*\/aicr[ \t]+[a-z][\w-]{0,40}(?=$|[\s.,;:!?])/i
const commandName: Readonly<Record<string, Command>> = { review: "review", help: "help", cancel: "cancel" }

/** `before`: the text before an edit, from which a person may have removed the marker. */
export const isOwnComment = (body: string, before = ""): boolean => body.includes(marker) || before.includes(marker)

/** Returns the first command of a comment, `help` for an unknown command, and undefined for a comment without one. */
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
    const match = command.exec(text)
    const name = match?.[1] ?? match?.[2]
    if (name !== undefined) return commandName[name.toLowerCase()]
    isTried ||= unknownWord.test(text)
  }
  return isTried ? "help" : undefined
}
