/**
 * The behaviour of a timed model: reports the seeded faults of the change that it is shown, confirms findings, summarises. It fills
 * whichever tools it is offered by their schemas, one response or one call per step.
 */
import type { FakeCall } from "./FakeModelReply.ts"
import { readShownChange } from "./SeededFaults.ts"
import type { ShownChange, ShownFault } from "./SeededFaults.ts"

export interface ChatToolCall {
  readonly id: string
  readonly function: { readonly name: string; readonly arguments: string }
}

type Content = string | null | ReadonlyArray<{ readonly type: string; readonly text?: string }>

/** The part of a chat completions request that a model reads. */
export interface ChatRequest {
  readonly messages: ReadonlyArray<{
    readonly role: string
    readonly content?: Content
    readonly tool_calls?: ReadonlyArray<ChatToolCall>
    readonly tool_call_id?: string
  }>
  readonly tools?: ReadonlyArray<{ readonly function: { readonly name: string; readonly parameters: unknown } }>
  readonly stream?: boolean
}

export type WorkKind = "analysis" | "verification" | "summary" | "other"

export interface ModelWork {
  readonly kind: WorkKind
  readonly calls: ReadonlyArray<FakeCall>
  /** The change that the request shows to be reviewed; empty in other kinds of work. */
  readonly shown: ShownChange
}

interface Tool {
  readonly name: string
  readonly parameters: unknown
}

const nothing: ShownChange = { files: [], added: [], faults: [] }

export const joinText = (content: Content | undefined): string =>
  typeof content === "string" ? content : (content ?? []).map(({ text }) => text ?? "").join("\n")

/** Returns the response of the model. `oneCallPerStep` ends each response after one call, and reads two of three files first. */
export const chooseWork = (request: ChatRequest, oneCallPerStep: boolean): ModelWork => {
  const tools: ReadonlyArray<Tool> = (request.tools ?? []).map((tool) => tool.function)
  const toolOf = (name: RegExp): Tool | undefined => tools.find((tool) => name.test(tool.name))
  const prompt = joinText(request.messages.findLast(({ role }) => role === "user")?.content)
  const verdict = toolOf(/^verdicts?$/)
  const claims = prompt.match(/"quote": ?"[^\n]*fault_\w+/g)?.length ?? 0
  if (verdict !== undefined && claims > 0) {
    return { kind: "verification", calls: confirm(verdict, claims), shown: nothing }
  }
  const summaries = toolOf(/^summaries$/)
  const single = toolOf(/^report_problem$/)
  const list = toolOf(/^report_problems$/)
  const shown = readShownChange(
    request.messages
      .filter(isUser)
      .map(({ content }) => joinText(content))
      .join("\n")
  )
  if (summaries !== undefined && shown.files.length > 0 && single === undefined) {
    const files = shown.files.map((path) => ({ path, summary: `Computes the totals of its rows. ${filler(16)}` }))
    return { kind: "summary", calls: [{ name: summaries.name, input: { files } }], shown: nothing }
  }
  const publish = toolOf(/^publish_summary$/)
  if ((single ?? list) === undefined || shown.files.length === 0) {
    const calls = publish === undefined ? [] : [summary(publish, shown)]
    return { kind: publish === undefined ? "other" : "summary", calls, shown: nothing }
  }
  const before = request.messages.flatMap((message) => message.tool_calls ?? [])
  const isReported = ({ quote }: ShownFault): boolean =>
    before.some((call) => call.function.arguments.includes(quote.trim()))
  const faults = shown.faults.filter((fault) => !isReported(fault))
  const ending = publish === undefined ? [] : [summary(publish, shown)]
  if (!oneCallPerStep) return { kind: "analysis", calls: [...report(single, list, faults), ...ending], shown }
  const fetch = toolOf(/^fetch_more_context$/)
  const fetched = before.filter((call) => call.function.name === fetch?.name).length
  const unread = fetch === undefined ? undefined : shown.files.filter((_, index) => index % 3 !== 0)[fetched]
  const read = unread === undefined ? [] : [{ name: "fetch_more_context", input: readOf(unread) }]
  const steps = [...read, ...report(single, list, faults.slice(0, 1)), ...ending]
  return { kind: "analysis", calls: steps.slice(0, 1), shown }
}

const isUser = ({ role }: { readonly role: string }): boolean => role === "user"

const readOf = (path: string) => ({ path, range: "1-60", reason: "To see what the rows hold." })

const report = (
  single: Tool | undefined,
  list: Tool | undefined,
  faults: ReadonlyArray<ShownFault>
): ReadonlyArray<FakeCall> => {
  if (faults.length === 0) return []
  const problems = faults.map(problemOf)
  if (list !== undefined) return [{ name: list.name, input: { [listOf(list).field]: problems } }]
  return problems.map((input) => ({ name: single?.name ?? "", input }))
}

const problemOf = ({ name, severity, file, line, quote }: ShownFault) => ({
  file,
  line,
  severity,
  category: "correctness",
  title: `Reads past the last of the rows of ${name}`,
  message: `The index is the length of the list, so the result is undefined and its total throws.`,
  quote
})

/** Confirms all findings of a request, in the form that the tool has: one verdict, or a numbered list. */
const confirm = (tool: Tool, claims: number): ReadonlyArray<FakeCall> => {
  const verdict = { verdict: "confirm", reason: "The index is never below the length, whatever the caller passes." }
  const list = listOf(tool)
  if (!list.isPresent) return [{ name: tool.name, input: verdict }]
  const verdicts = Array.from({ length: claims }, (_, index) => ({
    ...(list.number === undefined ? {} : { [list.number]: index + 1 }),
    ...verdict
  }))
  return [{ name: tool.name, input: { [list.field]: verdicts } }]
}

const summary = (tool: Tool, { files }: ShownChange): FakeCall => ({
  name: tool.name,
  input: {
    markdown: [
      "The change computes totals of rows in further modules and keeps the form of those that exist.",
      ...files.slice(0, 6).map((path) => `- ${path}: totals of its rows are added.`)
    ].join("\n")
  }
})

const filler = (words: number): string =>
  Array.from({ length: words }, (_, index) => ["take", "the", "last", "row", "by", "its", "index"][index % 7]).join(" ")

interface ListField {
  readonly isPresent: boolean
  /** Name of the field that holds a list. */
  readonly field: string
  /** Name of the whole number that each item has. */
  readonly number: string | undefined
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

const propertiesOf = (schema: unknown): ReadonlyArray<readonly [string, unknown]> =>
  isRecord(schema) && isRecord(schema["properties"]) ? Object.entries(schema["properties"]) : []

const listOf = ({ parameters }: Tool): ListField => {
  const found = propertiesOf(parameters).find(([, field]) => isRecord(field) && field["type"] === "array")
  if (found === undefined) return { isPresent: false, field: "problems", number: undefined }
  const [field, schema] = found
  const items = isRecord(schema) ? propertiesOf(schema["items"]) : []
  const number = items.find(([, item]) => isRecord(item) && item["type"] === "integer")?.[0]
  return { isPresent: true, field, number }
}
