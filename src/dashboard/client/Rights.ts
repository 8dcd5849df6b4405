/** Rights of the user: what the role of the session may not do. The service refuses it; pages disable it and say why. */
import { useApi } from "./Queries.ts"
import type { Endpoint } from "./Endpoints.ts"

/** Roles change with the session only. */
const staleMillis = 300_000

const useSession = () => useApi("GET /session", {}, { staleTime: staleMillis }).data

export const useRole = (): string | undefined => useSession()?.role

/** Returns a function that returns the roles of a refused endpoint: that of the user, and the least one. Undefined: it is allowed. */
export const useRefusals = () => {
  const session = useSession()
  return (endpoint: Endpoint): { readonly role: string; readonly needed: string } | undefined => {
    const needed = session?.refused[endpoint]
    return session === undefined || needed === undefined ? undefined : { role: session.role, needed }
  }
}
