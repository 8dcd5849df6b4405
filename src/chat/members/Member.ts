/** People of a chat platform, as a directory lists them. Equal ids of different scopes are different people. */
import type { Name } from "../../domain/Vocabulary.ts"

/** Namespace of identities: a corporation of WeCom, an application or a tenant of Feishu. */
interface IdentityScope {
  readonly kind: Name<"identityScope">
  readonly id: string
}

/** Id with which the platform mentions a person. */
export interface MemberMention {
  readonly type: "feishu_open_id" | "feishu_user_id" | "slack_user" | "wecom_userid"
  readonly id: string
}

/** Account of a person in a version-control system. */
interface MemberAccount {
  readonly provider: Name<"triggerKind">
  /** Trigger whose host has the account; undefined: every trigger of this kind. */
  readonly sourceTrigger: string | undefined
  readonly username: string
}

export interface ChatMember {
  /** Unique in its directory. */
  readonly key: string
  /** Display name and aliases. */
  readonly names: ReadonlyArray<string>
  readonly emails: ReadonlyArray<string>
  readonly accounts: ReadonlyArray<MemberAccount>
  readonly mention: MemberMention
}

/** The members of one scope. */
export interface Directory {
  readonly scope: IdentityScope
  readonly members: ReadonlyArray<ChatMember>
}
