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
  (mappings: MatchRules["mappings"], identifiers: ReadonlyArray<string | undefined>) =>
  ({ key }: ChatMember): boolean =>
    identifiers.some((one) => one !== undefined && Object.hasOwn(mappings, one) && mappings[one] === key)

const hasEmail =
  (email: string | undefined) =>
  ({ emails }: ChatMember): boolean =>
    email !== undefined && emails.some((one) => fold(one) === fold(email))

const hasAccount =
  ({ accounts, provider, trigger }: Pick<AuthorFacts, "accounts" | "provider" | "trigger">) =>
  (member: ChatMember): boolean => {
    const logins = new Set(accounts.map(fold))
    return member.accounts.some(
      (one) =>
        one.provider === provider &&
        (one.sourceTrigger === undefined || one.sourceTrigger === trigger) &&
        logins.has(fold(one.username))
    )
  }

const isNamed = (author: AuthorFacts) => {
  const texts = new Set([...author.accounts, ...author.names].map(fold))
  const isOwn = hasAccount(author)
  return (member: ChatMember): boolean =>
    isOwn(member) || [member.key, ...member.names].some((name) => texts.has(fold(name)))
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

const matchOf = (members: ReadonlyArray<ChatMember>): MemberMatch => {
  const [member] = members
  if (member === undefined) return { _tag: "None" }
  const count = countPeople(members)
  return count === 1 ? { _tag: "One", member } : { _tag: "Several", count }
}

/**
 * Finds the member whose account at the host is this one, by a mapping of the login or by the accounts of the directory. Names and addresses do
 * not count: the author of a commit chooses them.
 */
export const matchAccount = (
  { accounts, provider, trigger }: Pick<AuthorFacts, "accounts" | "provider" | "trigger">,
  members: ReadonlyArray<ChatMember>,
  { mappings }: Pick<MatchRules, "mappings">
): MemberMatch => {
  const byMapping = members.filter(mapped(mappings, accounts))
  return matchOf(byMapping.length > 0 ? byMapping : members.filter(hasAccount({ accounts, provider, trigger })))
}

export const matchMember = (
  author: AuthorFacts,
  members: ReadonlyArray<ChatMember>,
  rules: MatchRules
): MemberMatch => {
  const { accounts, client, email, names } = author
  const steps = [
    mapped(rules.mappings, [...accounts, email, ...names]),
    mapped(rules.mappings, [client]),
    hasEmail(email),
    isNamed(author),
    isInClient(author, rules)
  ]
  for (const step of steps) {
    const match = matchOf(members.filter(step))
    if (match._tag !== "None") return match
  }
  return { _tag: "None" }
}
