/** Scopes of people that command bindings name: departments, tags, positions, job titles, members of a chat. Pure. */
import type { Actor } from "../../config/schema/Im.ts"

export type MemberScope =
  | { readonly kind: "feishu_chat"; readonly id: string }
  | { readonly kind: "feishu_department" | "wecom_department"; readonly id: string; readonly recursive: boolean }
  | {
      readonly kind: "feishu_job_title" | "slack_channel" | "slack_usergroup" | "wecom_tag" | "wecom_position"
      readonly id: string
    }
  | { readonly kind: "wecom_extattr"; readonly name: string; readonly value: string }

/** Names a scope; equal scopes have equal keys. */
export const scopeKey = (scope: MemberScope): string => JSON.stringify(scope)

/** Returns the scope of an actor; undefined for exact people, for `any`, and for incomplete drafts. */
export const toScope = ({ chat_id: chat, id, kind, name, recursive = true, value }: Actor): MemberScope | undefined => {
  switch (kind) {
    case "feishu_chat":
      return chat === undefined ? undefined : { kind, id: chat }
    case "feishu_department":
    case "wecom_department":
      return id === undefined ? undefined : { kind, id, recursive }
    case "feishu_job_title":
    case "slack_channel":
    case "slack_usergroup":
    case "wecom_tag":
    case "wecom_position":
      return id === undefined ? undefined : { kind, id }
    case "wecom_extattr":
      return name === undefined || value === undefined ? undefined : { kind, name, value }
    default:
      return undefined
  }
}
