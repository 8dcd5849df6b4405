/**
 * Error for a publication whose channel has been changed to another kind since it was planned, which does not support the
 * operation.
 */
import type { Publication } from "../../domain/Publication.ts"
import { ChannelMissing } from "./Channel.ts"

export const wrongChannelKind = ({ channel, operation }: Publication): ChannelMissing =>
  new ChannelMissing({ why: { _tag: "ChannelKindChanged", channel, operation: operation._tag } })
