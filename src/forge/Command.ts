/**
 * Commands in comments (decisions 2.3): `/aicr review` or `/review`, `/aicr help`, `/aicr cancel`, as words of their own, in any
 * case. Quoted lines and code are somebody else's words and do not count; a comment with our hidden marker is our own.
 */
export type Command = "review" | "help" | "cancel"

/** How every hidden marker of ours begins (decisions section 8). */
const marker = "<!-- aicr:v1"

const command = /(?:^|\s)\/(?:aicr[ \t]+(review|help|cancel)|(review))(?=$|[\s.,;:!?])/i
const commandName: Readonly<Record<string, Command>> = { review: "review", help: "help", cancel: "cancel" }

export const isOwnComment = (body: string): boolean => body.includes(marker)

/** The first command of a comment, undefined when it has none. */
export const findCommand = (body: string): Command | undefined => {
  let fence: string | undefined
  for (const line of body.split("\n")) {
    const opening = /^ {0,3}(```+|~~~+)/.exec(line)?.[1]
    if (opening !== undefined && (fence === undefined || opening.startsWith(fence))) {
      fence = fence === undefined ? opening : undefined
      continue
    }
    if (fence !== undefined || /^ {0,3}>/.test(line)) continue
    const found = command.exec(line.replaceAll(/`[^`]*`/g, "``"))
    const name = found?.[1] ?? found?.[2]
    if (name !== undefined) return commandName[name.toLowerCase()]
  }
  return undefined
}
