/** Reads the document of the database as YAML, with the number of its revision. */
import { useQuery } from "@tanstack/react-query"
import { call } from "../client/Call.ts"

export interface Exported {
  readonly yaml: string
  readonly revision: number
}

const maxAttempts = 5

/** Another revision may be published between the requests: then both are repeated. */
const readExport = async (signal: AbortSignal): Promise<Exported> => {
  let before = await call("GET /config", {}, { signal })
  for (let attempt = 1; ; attempt++) {
    const yaml = await call("GET /config/export", {}, { signal })
    const after = await call("GET /config", {}, { signal })
    if (after.head === before.head || attempt === maxAttempts) return { yaml, revision: before.head }
    before = after
  }
}

export const useExport = () =>
  useQuery({ queryKey: ["GET /config/export", {}], queryFn: ({ signal }) => readExport(signal) })
