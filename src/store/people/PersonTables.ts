/**
 * The columns of records that can hold the name or the texts of a person, one declaration per table, in the order in which they are erased:
 * rows that are known to be the person's by another table come before that table, so that a repetition after a crash finds them.
 */
import { Schema } from "effect"
import { Change } from "../../domain/Change.ts"
import { searchText } from "../../domain/SearchText.ts"
import { searchEvent } from "../events/EventRow.ts"
import * as Erase from "../../domain/PersonErasure.ts"
import type { ErasedPerson, Relation } from "../../domain/PersonErasure.ts"
import { publicationLifecycle, PublicationStatus } from "../../domain/Publication.ts"
import { chatRequestLifecycle, ChatRequestStatus } from "../../domain/ChatRequest.ts"
import { RunStatus, runLifecycle } from "../../domain/Run.ts"
import { noticeLifecycle, NoticeStatus } from "../../domain/Notice.ts"
import type { PersonFamily } from "../PersonRecords.ts"

/** A row, and its relation to the person. */
interface PersonRow {
  readonly relation: Relation
  readonly values: Readonly<Record<string, unknown>>
}

type EraseColumn = (person: ErasedPerson, text: string, row: PersonRow) => string

export interface PersonTable {
  readonly family: PersonFamily
  readonly table: string
  readonly key: ReadonlyArray<string>
  /** SQL of the name of the trigger, or of a key that begins with it. Absent: its rows name people of every kind. */
  readonly trigger?: string
  /** SQL of the change by whose author a row is the person's, as JSON. */
  readonly change?: string
  /** SQL of the case-folded repository and of the number of the pull request that the row is about. */
  readonly pull?: { readonly repo: string; readonly number: string }
  /** SQL that is true of rows that change no more. */
  readonly ended: string
  readonly columns: Readonly<Record<string, EraseColumn>>
  /** Text by which people search its rows, made from their values. */
  readonly search?: (values: PersonRow["values"]) => string
  /** Its names of people have no prefix: people of this kind are in it. */
  readonly kind?: ErasedPerson["kind"]
  /** Rows with a relation to the person are removed, as their age would remove them. */
  readonly removes?: true
}

const listed = (values: ReadonlyArray<string>): string => values.map((value) => `'${value}'`).join(", ")
const always = "1 = 1"
const endedRuns = listed(RunStatus.literals.filter(runLifecycle.isTerminal))

const name: EraseColumn = (person, text) => Erase.eraseName(person, text)
/** Replaces a name without a prefix in a table that names people of this kind only. */
const nameOf =
  (kind: ErasedPerson["kind"]): EraseColumn =>
  (person, text) =>
    person.kind === kind ? Erase.eraseName(person, text) : text
const words: EraseColumn = (person, text, { relation }) =>
  Erase.eraseText(person, text, relation === "own" ? "involved" : relation)
const reason: EraseColumn = (person, text, { relation }) => Erase.eraseReason(person, text, relation)
const change: EraseColumn = (person, text, { relation }) => Erase.eraseChangeJson(person, text, relation)
const json =
  (...own: ReadonlyArray<string>): EraseColumn =>
  (person, text, { relation }) =>
    Erase.eraseJson(person, text, { own: new Set(own), relation })
const removed =
  (empty: string): EraseColumn =>
  (_, text, { relation }) =>
    relation === "other" ? text : empty

const isSender = (person: ErasedPerson, { values }: PersonRow): boolean => Erase.isPerson(person, values["sender"])
const work: EraseColumn = (person, text, row) => Erase.eraseWork(person, text, row.relation, isSender(person, row))
/** Replaces the name where it is a word of its own, in records that are about no change. */
const mentioned: EraseColumn = (person, text) => Erase.eraseText(person, text, "involved")
const chatKeys = new Set(["text", "args", "question", "progressText"])
/** People of different platforms may have the same id. */
const isChatSender = (person: ErasedPerson, row: PersonRow): boolean =>
  person.kind === "chat" &&
  person.qualified.startsWith(`${String(row.values["sender_type"])}:`) &&
  isSender(person, row)
const chatSender: EraseColumn = (person, text, row) => (isChatSender(person, row) ? Erase.erasedName : text)
/** A request of the person loses its texts, and one of another person those that name the person. */
const chatFacts: EraseColumn = (person, text, row) => {
  const isNamed = isChatSender(person, row) || Erase.eraseText(person, text, "involved") !== text
  return Erase.eraseJson(person, text, { own: chatKeys, relation: isNamed ? "own" : "other" })
}
/** The conversation of one person with an application identifies the person. */
const chatConversation: EraseColumn = (person, text, row) =>
  isChatSender(person, row) && row.values["conversation_kind"] === "direct" ? Erase.erasedName : text

/** The name follows the way of the login. */
const viewOwner: EraseColumn = (person, text, row) =>
  nameOf("administrator")(person, text.slice(text.indexOf(":") + 1), row) === Erase.erasedName ? Erase.erasedName : text

/** A title is that of the author, in the deliveries of all people. */
const eventTitle: EraseColumn = (person, text, { relation, values }) =>
  Erase.eraseText(person, text, Erase.isPerson(person, values["author"]) ? "own" : relation)

const decodeChange = Schema.decodeUnknownSync(Schema.fromJsonString(Change))
const runSearch = ({ change: decided, head, workspace }: PersonRow["values"]) =>
  searchText(decodeChange(decided), String(workspace), String(head))
const decodeWork = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ change: Change })))
const asText = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)
const eventSearch = (values: PersonRow["values"]) => {
  const { author, branch, head, number, repo, sender, title, work: accepted, workspace } = values
  return searchEvent({
    facts: {
      number: number === null ? undefined : Number(number),
      author: asText(author),
      branch: asText(branch),
      head: asText(head),
      sender: asText(sender),
      title: asText(title)
    },
    repo: asText(repo),
    workspace: asText(workspace),
    work: typeof accepted === "string" ? decodeWork(accepted) : undefined
  })
}

/** SQL of a value of the run of a row. */
const ofRun = (column: string): string => `(SELECT r.${column} FROM runs r WHERE r.id = part.run_id)`
const aboutRun = {
  trigger: ofRun("trigger_name"),
  change: ofRun("change"),
  pull: { repo: ofRun("repo"), number: ofRun("number") },
  ended: `COALESCE(${ofRun("status")}, 'failed') IN (${endedRuns})`
}
const ofEvent = (column: string): string => `(SELECT e.${column} FROM events e WHERE e.id = part.event_id)`
const targetTrigger = "part.target_key"

export const personTables: ReadonlyArray<PersonTable> = [
  {
    family: "prompts",
    table: "runs",
    key: ["id"],
    trigger: "part.trigger_name",
    change: "part.change",
    pull: { repo: "part.repo", number: "part.number" },
    ended: `part.status IN (${endedRuns})`,
    columns: {}
  },
  { family: "agent_passes", table: "agent_passes", key: ["id"], ...aboutRun, columns: {}, removes: true },
  { family: "log_lines", table: "run_logs", key: ["id"], ...aboutRun, columns: { lines: removed("[]") } },
  {
    family: "payloads",
    table: "delivery_payloads",
    key: ["event_id"],
    trigger: ofEvent("trigger_name"),
    pull: { repo: `LOWER(${ofEvent("repo")})`, number: ofEvent("number") },
    ended: `(${ofEvent("work")} IS NULL OR ${ofEvent("outcome")} IS NOT NULL)`,
    columns: { headers: words, body: words },
    removes: true
  },
  {
    family: "publications",
    table: "publications",
    key: ["seq"],
    ...aboutRun,
    trigger: targetTrigger,
    ended: `part.status IN (${listed(PublicationStatus.literals.filter(publicationLifecycle.isTerminal))})`,
    columns: {
      operation: json("title", "body", "text", "detail"),
      error: reason,
      ignored_dismissals: json(),
      listed: json("detail")
    }
  },
  {
    family: "findings",
    table: "finding_outcomes",
    key: ["target_key", "fingerprint"],
    trigger: targetTrigger,
    pull: {
      repo: "(SELECT r.repo FROM runs r WHERE r.id = part.found_in)",
      number: "(SELECT r.number FROM runs r WHERE r.id = part.found_in)"
    },
    ended: always,
    columns: { title: words }
  },
  {
    family: "lessons",
    table: "lessons",
    key: ["repository", "fingerprint"],
    trigger: "part.repository",
    ended: always,
    columns: { title: words, quote: words }
  },
  {
    family: "pauses",
    table: "paused_changes",
    key: ["target_key"],
    trigger: targetTrigger,
    ended: always,
    columns: { person: name }
  },
  {
    family: "batches",
    table: "batches",
    key: ["id"],
    change: "part.change",
    ended: "part.finished_at IS NOT NULL",
    columns: { change, reason }
  },
  {
    family: "chat_requests",
    table: "chat_requests",
    key: ["id"],
    ended: `part.status IN (${listed(ChatRequestStatus.literals.filter(chatRequestLifecycle.isTerminal))})`,
    kind: "chat",
    columns: { conversation: chatConversation, facts: chatFacts, sender: chatSender }
  },
  {
    family: "opt_outs",
    table: "direct_opt_outs",
    key: ["connection", "sender_type", "sender"],
    kind: "chat",
    ended: always,
    columns: { sender: chatSender },
    removes: true
  },
  {
    family: "notices",
    table: "notices",
    key: ["id"],
    ended: `part.status IN (${listed(NoticeStatus.literals.filter(noticeLifecycle.isTerminal))})`,
    columns: { notice_key: mentioned, facts: mentioned, error: mentioned },
    removes: true
  },
  {
    family: "sessions",
    table: "admin_sessions",
    key: ["digest"],
    kind: "administrator",
    ended: always,
    columns: { username: nameOf("administrator") },
    removes: true
  },
  {
    family: "views",
    table: "saved_views",
    key: ["id"],
    kind: "administrator",
    ended: always,
    columns: { owner: viewOwner },
    removes: true
  },
  {
    family: "tokens",
    table: "service_tokens",
    key: ["id"],
    kind: "administrator",
    ended: always,
    columns: { created_by: nameOf("administrator") }
  },
  {
    family: "projects",
    table: "projects",
    key: ["id"],
    kind: "administrator",
    ended: always,
    columns: { deleted_by: nameOf("administrator") }
  },
  {
    family: "audit",
    table: "admin_actions",
    key: ["id"],
    kind: "administrator",
    // An action without an outcome runs, or its process died in it: none runs for an hour.
    ended:
      "(part.outcome <> 'unknown' OR EXISTS (SELECT 1 FROM admin_actions later WHERE later.at > part.at + 3600000))",
    columns: { actor: nameOf("administrator"), target: mentioned, reason: mentioned }
  },
  {
    family: "reviews",
    table: "runs",
    key: ["id"],
    trigger: "part.trigger_name",
    change: "part.change",
    pull: { repo: "part.repo", number: "part.number" },
    ended: `part.status IN (${endedRuns})`,
    columns: { change, reason, analysis: json("summary", "question", "text") },
    search: runSearch
  },
  {
    family: "deliveries",
    table: "events",
    key: ["id"],
    trigger: "part.trigger_name",
    pull: { repo: "LOWER(part.repo)", number: "part.number" },
    ended: "(part.work IS NULL OR part.outcome IS NOT NULL) AND (part.routing IS NULL OR part.outcome IS NOT NULL)",
    columns: {
      author: name,
      sender: name,
      pusher: name,
      title: eventTitle,
      work,
      routing: json("description"),
      rule: reason,
      outcome_reason: reason
    },
    search: eventSearch
  }
]
