/**
 * Reads a member file: strict YAML or JSON, `{version: 1, directories: {<id>: {platform, identity_scope, members}}}`. A file with any mistake
 * is refused as a whole, so that no half of a directory takes effect. Pure.
 */
import { Result, Schema, SchemaIssue } from "effect"
import { parseYaml } from "../../config/Yaml.ts"
import { canonical } from "../../domain/Vocabulary.ts"
import type { Concept, Name } from "../../domain/Vocabulary.ts"
import type { Directory, ChatMember, MemberMention } from "./Member.ts"
import { verbatimReason } from "../../domain/Reason.ts"
import type { Reason } from "../../domain/Reason.ts"

/** Maximum size of a member file. */
export const maxMemberFileBytes = 4 * 1024 * 1024
const maxMembers = 50_000
const maxIssues = 20

const Text = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(512))
const Texts = Schema.Array(Text).check(Schema.isMaxLength(50))

const Entry = Schema.Struct({
  key: Text,
  display_name: Schema.optionalKey(Text),
  aliases: Schema.optionalKey(Texts),
  emails: Schema.optionalKey(Texts),
  vcs_accounts: Schema.optionalKey(
    Schema.Array(Schema.Struct({ provider: Text, source_trigger: Schema.optionalKey(Text), username: Text })).check(
      Schema.isMaxLength(50)
    )
  ),
  mention: Schema.Struct({ type: Text, id: Text })
})

const File = Schema.Struct({
  version: Schema.Literal(1),
  directories: Schema.Record(
    Text,
    Schema.Struct({
      platform: Text,
      identity_scope: Schema.Struct({ kind: Text, id: Text }),
      members: Schema.Array(Entry).check(Schema.isMaxLength(maxMembers))
    })
  )
})

const decode = Schema.decodeUnknownResult(File, { errors: "all", onExcessProperty: "error" })

type Platform = "feishu" | "wecom"

const platforms: ReadonlyMap<string, Platform> = new Map([
  ["feishu", "feishu"],
  ["lark", "feishu"],
  ["im_a", "feishu"],
  ["wecom", "wecom"],
  ["im_b", "wecom"]
])

/** Accepted types of mentions by platform, with their other spellings. */
const mentionTypes: Readonly<Record<Platform, ReadonlyMap<string, MemberMention["type"]>>> = {
  feishu: new Map([
    ["feishu_open_id", "feishu_open_id"],
    ["im_a_open_id", "feishu_open_id"],
    ["feishu_user_id", "feishu_user_id"],
    ["im_a_user_id", "feishu_user_id"]
  ]),
  wecom: new Map([
    ["wecom_userid", "wecom_userid"],
    ["im_b_userid", "wecom_userid"]
  ])
}

/** Ids are written into the markup of the platforms. */
const isId = (id: string): boolean => /^[\w.@-]{1,128}$/.test(id)

/** Collects the mistakes of a file. */
class Mistakes {
  readonly found: Array<string> = []
  add(at: string, message: string): undefined {
    if (this.found.length < maxIssues) this.found.push(`${at}: ${message}`)
    return undefined
  }
  named<C extends Concept>(concept: C, value: string, at: string): Name<C> | undefined {
    return canonical(concept, value) ?? this.add(at, `unknown value ${JSON.stringify(value.slice(0, 60))}`)
  }
}

const toMember = (
  entry: typeof Entry.Type,
  platform: Platform,
  at: string,
  mistakes: Mistakes
): ChatMember | undefined => {
  const { aliases = [], display_name: name, emails = [], key, mention, vcs_accounts: accounts = [] } = entry
  const type = mentionTypes[platform].get(mention.type)
  if (type === undefined) mistakes.add(`${at}.mention.type`, `${mention.type} does not exist on ${platform}`)
  if (!isId(mention.id)) mistakes.add(`${at}.mention.id`, "is not an id of a person")
  const known = accounts.flatMap(({ provider, source_trigger: sourceTrigger, username }, index) => {
    const kind = mistakes.named("triggerKind", provider, `${at}.vcs_accounts[${index}].provider`)
    return kind === undefined ? [] : [{ provider: kind, sourceTrigger, username }]
  })
  if (type === undefined) return undefined
  const names = [...(name === undefined ? [] : [name]), ...aliases]
  return { key, names, emails, accounts: known, mention: { type, id: mention.id } }
}

const toDirectory = (
  { identity_scope: scope, members, platform: name }: (typeof File.Type)["directories"][string],
  at: string,
  mistakes: Mistakes
): Directory | undefined => {
  const platform = platforms.get(name) ?? mistakes.add(`${at}.platform`, "expected feishu or wecom")
  const kind = mistakes.named("identityScope", scope.kind, `${at}.identity_scope.kind`)
  if (platform === undefined || kind === undefined) return undefined
  if (!kind.startsWith(platform)) mistakes.add(`${at}.identity_scope.kind`, `${kind} does not exist on ${platform}`)
  const keys = new Set<string>()
  const read = members.flatMap((entry, index) => {
    const where = `${at}.members[${index}]`
    if (keys.has(entry.key)) mistakes.add(`${where}.key`, "duplicate key")
    keys.add(entry.key)
    return toMember(entry, platform, where, mistakes) ?? []
  })
  return { scope: { kind, id: scope.id }, members: read }
}

export type MemberFileReading =
  | { readonly _tag: "Read"; readonly directories: ReadonlyMap<string, Directory> }
  | { readonly _tag: "Refused"; readonly issues: ReadonlyArray<Reason> }

const refused = (...issues: ReadonlyArray<Reason>): MemberFileReading => ({
  _tag: "Refused",
  issues: issues.slice(0, maxIssues)
})

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** Describes issues by their positions only: the messages of the schema contain values of the file. */
const listPositions = (issue: SchemaIssue.Issue): ReadonlyArray<string> =>
  format(issue).issues.map(({ path = [] }) => {
    const segments = path.map((part) => String(typeof part === "object" ? part.key : part))
    return `${segments.join(".") || "the document"}: missing, unknown, or of another type or length than described`
  })

export const readMemberFile = (text: string): MemberFileReading => {
  const parsed = parseYaml(text, maxMemberFileBytes)
  if (parsed.issues.length > 0 || parsed.value === undefined)
    return refused(
      ...parsed.issues.map(({ place, reason }): Reason =>
        place === undefined ? reason : { _tag: "AtLine", line: place.line, reason }
      )
    )
  const decoded = decode(parsed.value)
  if (Result.isFailure(decoded)) return refused(...listPositions(decoded.failure.issue).map(verbatimReason))
  const mistakes = new Mistakes()
  const directories = new Map<string, Directory>()
  for (const [id, value] of Object.entries(decoded.success.directories)) {
    const directory = toDirectory(value, `directories.${id}`, mistakes)
    if (directory !== undefined) directories.set(id, directory)
  }
  return mistakes.found.length > 0 ? refused(...mistakes.found.map(verbatimReason)) : { _tag: "Read", directories }
}
