/**
 * Parses commands from chat without a model. Grammar, one line, after `aicr` or a mention (in a direct conversation neither is needed):
 *
 * ```
 * help | chat-id | review <alias> <rev> | status <id> | cancel <alias> <rev> | projects | reviews [alias] |
 * commits <alias> [branch] | prs <alias> [branch] | detail <alias> <rev> | prdetail <alias> <id> | queue | running
 * ```
 *
 * Beyond it: `ask <alias> <rev> <question>`, whose question may have several lines, and `stop` and `start`, about direct messages to the
 * person. Each command also has a name in Chinese.
 */
import type { Change } from "../domain/Change.ts"
import type { ListedChange } from "../queue/operator/QueueControl.ts"
import { chatCommands, personalCommands } from "../domain/ChatRequest.ts"
import type { ChatCommandName, ChatRequestName, PersonalCommandName } from "../domain/ChatRequest.ts"
import { maxTextLength } from "./Inbound.ts"
import type { InboundMessage } from "./Inbound.ts"

export interface ChatCommand {
  readonly name: ChatCommandName
  readonly args: ReadonlyArray<string>
}

export type ParsedCommand =
  | { readonly _tag: "Command"; readonly command: ChatCommand }
  | { readonly _tag: "Question"; readonly alias: string; readonly revision: string; readonly question: string }
  /** A decision of a person about direct messages. */
  | { readonly _tag: "Personal"; readonly name: PersonalCommandName }
  /** The message is meant for us and is no command: `usage` of the command that it begins with, if any. */
  | { readonly _tag: "Unknown"; readonly word: string; readonly usage: ChatRequestName | undefined }
  /** A message of other people to each other. */
  | { readonly _tag: "NotForUs" }

interface Arity {
  readonly min: number
  readonly max: number
  /** Names of the arguments, for help. */
  readonly args: string
}

export const arities: Readonly<Record<ChatRequestName, Arity>> = {
  help: { min: 0, max: 0, args: "" },
  "chat-id": { min: 0, max: 0, args: "" },
  review: { min: 2, max: 2, args: "<alias> <rev>" },
  status: { min: 1, max: 1, args: "<id>" },
  cancel: { min: 2, max: 2, args: "<alias> <rev>" },
  projects: { min: 0, max: 0, args: "" },
  reviews: { min: 0, max: 1, args: "[alias]" },
  commits: { min: 1, max: 2, args: "<alias> [branch]" },
  prs: { min: 1, max: 2, args: "<alias> [branch]" },
  detail: { min: 2, max: 2, args: "<alias> <rev>" },
  prdetail: { min: 2, max: 2, args: "<alias> <id>" },
  queue: { min: 0, max: 0, args: "" },
  running: { min: 0, max: 0, args: "" },
  ask: { min: 3, max: Number.POSITIVE_INFINITY, args: "<alias> <rev> <question>" },
  stop: { min: 0, max: 0, args: "" },
  start: { min: 0, max: 0, args: "" }
}

/** Longest argument: names of branches and repositories. */
const maxArgument = 255
const maxWords = 8

/** Names of commands in Chinese, as people type them. */
const chineseNames: ReadonlyMap<string, ChatRequestName> = new Map([
  ["帮助", "help"],
  ["会话", "chat-id"],
  ["评审", "review"],
  ["状态", "status"],
  ["取消", "cancel"],
  ["项目", "projects"],
  ["评审记录", "reviews"],
  ["提交", "commits"],
  ["拉取请求", "prs"],
  ["合并请求", "prs"],
  ["详情", "detail"],
  ["拉取请求详情", "prdetail"],
  ["合并请求详情", "prdetail"],
  ["队列", "queue"],
  ["运行中", "running"],
  ["提问", "ask"],
  ["退订", "stop"],
  ["订阅", "start"]
])

/** Returns the name of a command in Chinese. */
export const chineseName = (command: ChatRequestName): string =>
  [...chineseNames].find(([, name]) => name === command)?.[0] ?? command

const isCommand = (word: string): word is ChatCommandName => (chatCommands as ReadonlyArray<string>).includes(word)
const isPersonal = (word: string): word is PersonalCommandName =>
  (personalCommands as ReadonlyArray<string>).includes(word)

/** Characters that no revision, branch, alias or repository has, and options of programs. */
const isPlain = (word: string): boolean =>
  word.length <= maxArgument && !word.startsWith("-") && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\\^~:?*[\]<>"'`|;$&]/u.test(word)

const parseQuestion = (text: string, hasPrefix: boolean): ParsedCommand | undefined => {
  const words = withoutLeadingMentions(toWords(text))
  const [alias = "", revision = "", ...question] = words.slice(hasPrefix ? 2 : 1)
  return isPlain(alias) && isPlain(revision) && question.length > 0
    ? { _tag: "Question", alias, revision, question: question.join(" ") }
    : undefined
}

/** Mentions of other people that the platform leaves in the text. */
const isMention = (word: string): boolean => word.length > 1 && word.startsWith("@")

const toWords = (text: string): ReadonlyArray<string> => text.split(/[\s\u3000]+/u).filter((word) => word !== "")

/** Words of a question: mentions before it are not part of it. */
const withoutLeadingMentions = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const start = words.findIndex((word) => !isMention(word))
  return start === -1 ? [] : words.slice(start)
}

/** `isForUs`: whether one of the mentions is one of this bot. */
export const parseCommand = (
  { conversation, mention, text }: Pick<InboundMessage, "conversation" | "mention" | "text">,
  isForUs: (mention: NonNullable<InboundMessage["mention"]>) => boolean
): ParsedCommand => {
  if (mention !== undefined && !isForUs(mention)) return { _tag: "NotForUs" }
  const lines = text.length > maxTextLength ? [] : text.trim().split(/\r\n|[\r\n\u2028\u2029]/u)
  const words = toWords(lines[0] ?? "").filter((word) => !isMention(word))
  const hasPrefix = words[0]?.toLowerCase() === "aicr" || words[0]?.toLowerCase() === "/aicr"
  if (!hasPrefix && mention === undefined && conversation.kind === "group") return { _tag: "NotForUs" }
  const [first = "", ...args] = hasPrefix ? words.slice(1) : words
  const word = first.toLowerCase().replace(/^\//, "")
  const name = chineseNames.get(word) ?? word
  const unknown = (usage: ChatRequestName | undefined): ParsedCommand => ({
    _tag: "Unknown",
    word: first.slice(0, 50),
    usage
  })
  if (name === "" && lines.length <= 1 && text.trim().length <= maxTextLength && words.length <= 1)
    return { _tag: "Command", command: { name: "help", args: [] } }
  if (name === "ask") return parseQuestion(text, hasPrefix) ?? unknown("ask")
  if (isPersonal(name)) return lines.length === 1 && args.length === 0 ? { _tag: "Personal", name } : unknown(name)
  if (!isCommand(name)) return unknown(undefined)
  const { max, min } = arities[name]
  const isFitting = lines.length === 1 && words.length <= maxWords && args.length >= min && args.length <= max
  if (!isFitting || !args.every(isPlain)) return unknown(name)
  return { _tag: "Command", command: { name, args } }
}

/** A revision: the number of a pull request (`12`, `#12`, `!12`), a full commit id, or a branch or the beginning of a commit id. */
type ChatRevision =
  | { readonly _tag: "Pull"; readonly number: number }
  | { readonly _tag: "Commit"; readonly id: string }
  | { readonly _tag: "Branch"; readonly name: string }

export const parseRevision = (text: string): ChatRevision => {
  const number = /^[#!]?([1-9]\d{0,8})$/.exec(text)?.[1]
  if (number !== undefined) return { _tag: "Pull", number: Number(number) }
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(text)) return { _tag: "Commit", id: text.toLowerCase() }
  return { _tag: "Branch", name: text.replace(/^refs\/heads\//, "") }
}

/** Returns the number of a revision of Subversion or of a changelist (`12`, `r12`, `#12`). */
export const parseSubmitted = (text: string): string | undefined => /^[r#!]?([1-9]\d{0,14})$/i.exec(text)?.[1]

/** Returns whether a change of Subversion or Perforce is of a revision: its number (`12`, `r12`, `#12`), that of a shelf, or its branch. */
const isSubmittedRevision = ({ base, headRef, provider, target }: Change, head: string, text: string): boolean => {
  const number = parseSubmitted(text)
  if (number === undefined) return target.branch === text || headRef === text
  // A batch has the revisions after its base; those of a changelist's server may be of others.
  const isInBatch = provider === "subversion" && Number(base ?? 0) > 0 && Number(base) < Number(number)
  return head === number || head.startsWith(`${number}-`) || (isInBatch && Number(number) < Number(head))
}

/**
 * Returns whether a listed change may be of a revision: the number of a pull request, or a branch, and its head. The branch of the head of a
 * pull request is not listed.
 */
export const mayBeRevision = ({ head = "", kind, name, provider }: ListedChange, text: string): boolean => {
  if (provider === "subversion" || provider === "perforce") {
    const number = parseSubmitted(text)
    return number === undefined ? name === text : Number.parseInt(head, 10) >= Number(number)
  }
  const parsed = parseRevision(text)
  if (parsed._tag === "Pull") return name === String(parsed.number)
  if (parsed._tag === "Commit") return head === parsed.id
  return kind === "pull_request" || name === parsed.name || head.startsWith(parsed.name.toLowerCase())
}

/** Returns whether a change is of a revision as a person writes it. `head`: that of its run; default: that of the change. */
export const isRevision = (change: Change, text: string, head = change.head ?? ""): boolean => {
  const { headRef, provider, target } = change
  if (provider === "subversion" || provider === "perforce") return isSubmittedRevision(change, head, text)
  const parsed = parseRevision(text)
  if (parsed._tag === "Pull") return target.number === parsed.number
  if (parsed._tag === "Commit") return head === parsed.id
  const isBeginning = /^[0-9a-f]{7,63}$/i.test(parsed.name) && head.startsWith(parsed.name.toLowerCase())
  return target.branch === parsed.name || headRef === parsed.name || isBeginning
}
