/** Limits of chat platforms that senders of messages keep. */
export { countPersons, withinDailyPersons } from "./wecom/DailyPersons.ts"
