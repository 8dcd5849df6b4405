/**
 * Commands in comments: after `/aicr` or the mention of the account, and as the first word of a reply in a thread, in upper or lower case;
 * `/review` alone is one, too. An unknown word after `/aicr` at the start of a line is a request for help. Quoted lines and code are ignored.
 * `ask` and `explain` are questions, and no commands. Pure and linear in the length of the text.
 */
import { Schema } from "effect"
import { CommentPlace } from "./Change.ts"
import { mentionName, spokenLines } from "./SpokenText.ts"
import { truncate } from "./Text.ts"

/** Maximum number of characters of the free text of a command. */
export const maxCommandText = 500

const FreeText = Schema.String.check(Schema.isMaxLength(maxCommandText))
/** Reason why a person dismisses a finding. */
const DismissalReason = Schema.Literals(["wrong", "intended", "not_here", "later"])
type DismissalReason = typeof DismissalReason.Type

/** `full`: files that an earlier review read are read again. `focus`: the topic that gets priority. */
const Review = Schema.Struct({
  name: Schema.Literal("review"),
  full: Schema.optional(Schema.Literal(true)),
  focus: Schema.optional(FreeText)
})

/** Number of a finding in the summary of its change. Without one the finding of the thread of the comment is meant. */
const FindingNumber = Schema.optional(Schema.Int)

/** First digits of the digest of a finding that only maintainers get. */
const PrivateName = Schema.optional(Schema.String)

/** A command other than `review`, which is executed and never queued. */
export const ExecutedCommand = Schema.Union([
  Schema.Struct({ name: Schema.Literals(["help", "cancel", "pause", "resume", "describe"]) }),
  Schema.Struct({
    name: Schema.Literal("dismiss"),
    number: FindingNumber,
    digest: PrivateName,
    reason: Schema.optional(DismissalReason),
    text: Schema.optional(FreeText)
  }),
  Schema.Struct({ name: Schema.Literal("reopen"), number: FindingNumber, digest: PrivateName }),
  /** Lists the notes if it has no text. */
  Schema.Struct({ name: Schema.Literal("remember"), text: Schema.optional(FreeText) }),
  Schema.Struct({ name: Schema.Literal("forget"), id: Schema.String })
])
export type ExecutedCommand = typeof ExecutedCommand.Type

export type Command = typeof Review.Type | ExecutedCommand

const executed = ["help", "cancel", "dismiss", "reopen", "pause", "resume", "describe", "remember", "forget"] as const
export const ExecutedName = Schema.Literals(executed)
export const CommandName = Schema.Literals(["review", ...executed])

/** A command that waits for its execution, or for its review, and its comment. */
export const CommandRequest = Schema.Struct({
  command: Schema.Union([Review, ExecutedCommand]),
  comment: Schema.optional(CommentPlace),
  /** It is the first word of a reply, which is a command only in a thread of the service. */
  inThread: Schema.optional(Schema.Literal(true))
})
export type CommandRequest = typeof CommandRequest.Type

/** Prefix of every hidden marker that the service writes. */
const marker = "<!-- aicr:v1"

/** `before`: the text before an edit, from which a person may have removed the marker. */
export const isOwnComment = (body: string, before = ""): boolean => body.includes(marker) || before.includes(marker)

/** Longest text that is read. */
const maxLength = 65_536

/** Words that begin a question. */
const questions: ReadonlySet<string> = new Set(["ask", "explain"])

const cutText = (text: string): string => truncate(text.trim(), maxCommandText)

/** Phrases of people for each reason, in lower case, the longer of two that begin alike first. */
const reasonPhrases: ReadonlyArray<readonly [DismissalReason, ReadonlyArray<string>]> = [
  ["wrong", ["false positive", "wrong", "incorrect", "误报", "错误", "不对", "有误"]],
  ["intended", ["intentional", "intended", "on purpose", "by design", "故意", "有意", "设计如此", "符合预期"]],
  ["not_here", ["not relevant here", "not here", "does not apply", "irrelevant", "不适用", "不在这里", "与此无关"]],
  ["later", ["later", "not now", "another time", "以后", "稍后", "下次", "之后再说"]]
]

const isWordEnd = (next: string | undefined): boolean => next === undefined || !/[\p{L}\p{N}_]/u.test(next)

const afterWord = (text: string): string => text.replace(/^[.,;:!?]{1,5}/, "").trim()

/** Returns the reason at the start of a text, with the free text after it. */
const readReason = (text: string) => {
  const stated = /^reason[ \t]*[:：]/i.exec(text)?.[0] ?? ""
  const rest = text.slice(stated.length).trim()
  const folded = rest.toLowerCase()
  for (const [reason, phrases] of reasonPhrases) {
    // A Chinese phrase may be followed by further characters.
    const phrase = phrases.find(
      (one) => folded.startsWith(one) && (/\p{Script=Han}/u.test(one) || isWordEnd(rest[one.length]))
    )
    if (phrase !== undefined)
      return { reason, text: rest.slice(phrase.length).replace(/^[\s,.;:!，。；：！—-]{1,20}/, "") }
  }
  return { reason: undefined, text: rest }
}

const readReview = (args: string): Command => {
  const full = /^full(?![\w-])/i.exec(args)?.[0] ?? ""
  const focus = /^focus[ \t]*[:：](.*)$/i.exec(afterWord(args.slice(full.length)))?.[1] ?? ""
  const text = cutText(focus)
  return {
    name: "review",
    ...(full === "" ? {} : { full: true as const }),
    ...(text === "" ? {} : { focus: text })
  }
}

/** Returns the number or the digest at the start of a text, with the text after it. A digest has more digits than any number. */
const readName = (args: string) => {
  const [whole, digits = ""] = /^#?(\d{1,6})(?![\w-])(?!\.\w)/.exec(args) ?? []
  if (whole !== undefined) return { named: { number: Number(digits) }, rest: afterWord(args.slice(whole.length)) }
  const [digest] = /^[0-9a-f]{8,64}(?![\w-])(?!\.\w)/i.exec(args) ?? []
  return digest === undefined
    ? { named: {}, rest: args }
    : { named: { digest: digest.toLowerCase() }, rest: afterWord(args.slice(digest.length)) }
}

const readDismiss = (args: string): Command => {
  const { named, rest } = readName(args)
  const { reason, text } = readReason(rest)
  const free = cutText(text)
  return {
    name: "dismiss",
    ...named,
    ...(reason === undefined ? {} : { reason }),
    ...(free === "" ? {} : { text: free })
  }
}

/** Reads the text after the word of a command; undefined if it is no command with this text. */
const readers: Readonly<Record<typeof CommandName.Type, (args: string) => Command | undefined>> = {
  review: readReview,
  help: () => ({ name: "help" }),
  cancel: () => ({ name: "cancel" }),
  pause: () => ({ name: "pause" }),
  resume: () => ({ name: "resume" }),
  describe: () => ({ name: "describe" }),
  remember: (args) => {
    const text = cutText(args)
    return { name: "remember", ...(text === "" ? {} : { text }) }
  },
  forget: (args) => {
    const [id] = /^[0-9a-f]{8}(?!\w)/.exec(args) ?? []
    return id === undefined ? undefined : { name: "forget", id }
  },
  dismiss: readDismiss,
  reopen: (args) => ({ name: "reopen", ...readName(args).named })
}

const isName = Schema.is(CommandName)

/** Matches `/aicr WORD` and `/review`, each as separate words. */
const slash = /(?:^|\s)\/(?:aicr[ \t]{1,20}([a-z]{3,10})|(review))(?=$|[\s.,;:!?])/gi
/** Matches an unknown word in the position of a command; its author gets the list of commands. */
const unknownWord = /^\s*\/aicr[ \t]+([a-z][\w-]{0,40})(?=$|[\s.,;:!?])/i

const readSlash = (line: string): Command | undefined => {
  for (const match of line.matchAll(slash)) {
    const name = (match[1] ?? match[2] ?? "").toLowerCase()
    const args = afterWord(line.slice(match.index + match[0].length))
    const command = isName(name) ? readers[name](args) : undefined
    if (command !== undefined) return command
  }
  return undefined
}

/** Returns the first command of a comment after `/aicr`, `help` for an unknown one, and undefined for a comment without a command. */
export const findCommand = (body: string): Command | undefined => {
  let isTried = false
  for (const line of spokenLines(body.slice(0, maxLength))) {
    const command = readSlash(line)
    if (command !== undefined) return command
    const word = unknownWord.exec(line)?.[1]?.toLowerCase()
    isTried ||= word !== undefined && !questions.has(word)
  }
  return isTried ? { name: "help" } : undefined
}

/** Commands that a reply may begin with, although people also use the word otherwise: only what belongs to the command may follow. */
const isComplete = (command: Command, args: string): boolean => {
  if (command.name === "remember" || command.name === "forget") return false
  if (command.name === "dismiss" || args === "") return true
  if (command.name === "review") return command.full === true || command.focus !== undefined
  return command.name === "reopen" && (command.number ?? command.digest) !== undefined && /^#?[0-9a-f]+$/i.test(args)
}

const readWord = (text: string, mayContinue: boolean): Command | undefined => {
  const [whole, word = ""] = /^([a-z]{3,10})(?=$|[\s.,;:!?#])/i.exec(text) ?? []
  const name = word.toLowerCase()
  if (whole === undefined || !isName(name)) return undefined
  const args = afterWord(text.slice(whole.length))
  const command = readers[name](args)
  return command !== undefined && (mayContinue || isComplete(command, args)) ? command : undefined
}

/**
 * Returns the command of a comment after a mention of the account, or as the first word of a reply in a thread; undefined for all others.
 * `account`: that of the service, if it is known.
 */
export const findAddressedCommand = (
  body: string,
  account: string | undefined,
  isReply: boolean
): Command | undefined => {
  let isFirst = true
  const mention = account === undefined ? undefined : `@${mentionName(account)}`
  for (const line of spokenLines(body.slice(0, maxLength))) {
    const text = line.trim()
    if (text === "") continue
    const word = isReply && isFirst ? readWord(text, false) : undefined
    if (word !== undefined) return word
    isFirst = false
    if (mention === undefined || !text.toLowerCase().startsWith(mention)) continue
    const after = text.slice(mention.length)
    if (!/^[\s,:，：]/.test(after)) continue
    const command = readWord(after.replace(/^[\s,:，：]{1,20}/, ""), true)
    if (command !== undefined) return command
  }
  return undefined
}
