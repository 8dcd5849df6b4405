/**
 * Finds the member of a directory who wrote a change, in this order: an explicit mapping of one of their identifiers; a mapping of the
 * Perforce client; the full e-mail address; an exact name, alias or login; where guessing is permitted, a word of the client's name. The
 * first rule that matches decides, and if it matches several members, none is the author: the wrong person is never mentioned. Pure.
 */
import type { TriggerKind } from "../../domain/Kinds.ts"
import type { ChatMember } from "./Member.ts"

export interface AuthorFacts {
  readonly provider: TriggerKind
  /** Trigger whose host has the accounts. */
  readonly trigger: string
  /** Logins at the host, or users of the depot. */
  readonly accounts: ReadonlyArray<string>
  readonly names: ReadonlyArray<string>
  readonly email: string | undefined
  /** Perforce client workspace. */
  readonly client: string | undefined
}

export interface MatchRules {
  /** Maps identifiers of authors and client workspaces to keys of members. */
  readonly mappings: Readonly<Record<string, string>>
  /** Permits words of the client's name. */
  readonly guesses: boolean
}

type MemberMatch =
  | { readonly _tag: "One"; readonly member: ChatMember }
  | { readonly _tag: "Several"; readonly count: number }
  | { readonly _tag: "None" }

const fold = (text: string): string => text.normalize("NFKC").trim().toLowerCase()

const mapped =
  ({ mappings }: MatchRules, identifiers: ReadonlyArray<string | undefined>) =>
  ({ key }: ChatMember): boolean =>
    identifiers.some((one) => one !== undefined && Object.hasOwn(mappings, one) && mappings[one] === key)

const hasEmail =
  (email: string | undefined) =>
  ({ emails }: ChatMember): boolean =>
    email !== undefined && emails.some((one) => fold(one) === fold(email))

const isNamed =
  ({ accounts, names, provider, trigger }: AuthorFacts) =>
  (member: ChatMember): boolean => {
    const logins = new Set(accounts.map(fold))
    const own = member.accounts.some(
      (one) =>
        one.provider === provider &&
        (one.sourceTrigger === undefined || one.sourceTrigger === trigger) &&
        logins.has(fold(one.username))
    )
    const texts = new Set([...logins, ...names.map(fold)])
    return own || [member.key, ...member.names].some((name) => texts.has(fold(name)))
  }

/** A shorter word is not the name of a person. */
const minWord = 3

const isInClient = ({ client, provider, trigger }: AuthorFacts, { guesses }: MatchRules) => {
  const words = guesses && client !== undefined ? client.slice(0, 256).split(/[^\p{L}\p{N}]+/u) : []
  const named = words.filter((word) => word.length >= minWord)
  const isWordOf = isNamed({ provider, trigger, accounts: named, names: [], email: undefined, client: undefined })
  return (member: ChatMember): boolean => named.length > 0 && isWordOf(member)
}

/** One person may be listed under several keys. */
const countPeople = (members: ReadonlyArray<ChatMember>): number =>
  new Set(members.map(({ mention }) => `${mention.type} ${mention.id}`)).size

export const matchMember = (
  author: AuthorFacts,
  members: ReadonlyArray<ChatMember>,
  rules: MatchRules
): MemberMatch => {
  const { accounts, client, email, names } = author
  const steps = [
    mapped(rules, [...accounts, email, ...names]),
    mapped(rules, [client]),
    hasEmail(email),
    isNamed(author),
    isInClient(author, rules)
  ]
  for (const step of steps) {
    const found = members.filter(step)
    const [member] = found
    if (member === undefined) continue
    const count = countPeople(found)
    return count === 1 ? { _tag: "One", member } : { _tag: "Several", count }
  }
  return { _tag: "None" }
}
