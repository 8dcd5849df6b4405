/** Decides whether a comment of a person may get a reply, as far as its delivery shows. The conversation is read when the reply is made. Pure. */
import type { Workspace } from "../config/Snapshot.ts"
import { findAddressee } from "../domain/AddressedComment.ts"
import { isTrustedRequester } from "../domain/Change.ts"
import type { HostEvent } from "../domain/HostEvent.ts"
import type { Reason } from "../domain/Reason.ts"

type Discussed = Extract<HostEvent, { readonly _tag: "Discussed" }>

/** Accounts of apps at GitHub. */
const isApp = (username: string): boolean => /\[bot\]$/i.test(username)

/** Returns why a comment gets no reply; undefined if it may get one. `own`: the account of the service, if it is known. */
export const refuseDiscussed = (
  { review }: Pick<Workspace, "review">,
  { body, isReply, sender }: Discussed,
  own: string | undefined
): Reason | undefined => {
  if (!review.comment_commands) return { _tag: "CommentCommandsOff" }
  if (!review.conversation.enabled) return { _tag: "ConversationOff" }
  // Permissions are read by name. An account of a host is never an administrator of this service.
  if (sender === undefined || isTrustedRequester(sender.username)) return { _tag: "WriterUnnamed" }
  if (isApp(sender.username)) return { _tag: "CommentOfBot", account: sender.username }
  const addressee = findAddressee(body, own)
  if (addressee === "person") return { _tag: "AddressesOthers" }
  return isReply || addressee === "service" ? undefined : { _tag: "NotAddressed" }
}
