/** A row that names a channel whose kind was changed since: its operation is not one of that kind. */
import type { Publication } from "../domain/Publication.ts"
import { ChannelMissing } from "./Channel.ts"

export const foreign = ({ channel, operation }: Publication): ChannelMissing =>
  new ChannelMissing({
    message: `channel ${channel} changed its kind and does not support ${operation._tag}; request the review again`
  })
