/** Shapes that several formats have. */
import { omitted, object, allow } from "./WireShape.ts"

/** An image within the request. */
export const imageData = /^data:image\/(png|jpe?g|gif|webp);base64,[A-Za-z0-9+/=]*$/

/** A mark of Anthropic's API, which its clients also send to other servers. A longer lifetime costs more and is removed. */
export const cacheControl = object({ type: allow("ephemeral"), ttl: omitted })
