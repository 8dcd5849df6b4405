/**
 * Error for a publication whose channel has been changed to another kind since it was planned, which does not support the
 * operation.
 */
import type { Publication } from "../domain/Publication.ts"
import { ChannelMissing } from "./Channel.ts"

export const wrongChannelKind = ({ channel, operation }: Publication): ChannelMissing =>
  new ChannelMissing({
    message: `channel ${channel} changed its kind and does not support ${operation._tag}; request the review again`
  })
