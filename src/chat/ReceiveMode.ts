/** Returns how messages of a connection arrive: by callback if it is enabled, otherwise over a long connection where the platform has one. Pure. */
import type { ChatConnection } from "../config/schema/Im.ts"

export type ReceiveMode = "callback" | "long_connection" | "nothing"

export const receiveMode = ({ callback, kind }: Pick<ChatConnection, "callback" | "kind">): ReceiveMode => {
  if (callback?.enabled === true) return "callback"
  return kind === "wecom_app" ? "nothing" : "long_connection"
}
