// Generated from openapi.json by npm run client:types.
export interface paths {
    "/pets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List animals
         * @description Returns animals by ascending `id`, one page at a time. If there are more, the `Link` header contains the URL of the next page: request it unchanged, until a response has none. Pagination is stable under inserts: no animal is repeated, and none that existed when the first page was requested is skipped.
         */
        get: operations["listPets"];
        put?: never;
        /**
         * Add an animal
         * @description Stores an animal and returns it with the `id` that the service assigned, and its URL in `Location`. Unknown fields, and an `id` in the body, are ignored. To retry the request safely, send an `Idempotency-Key`.
         */
        post: operations["createPet"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/pets/{petId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an animal
         * @deprecated
         * @description Returns one animal by its `id`. Deprecated, to be removed on 2030-12-05: use `GET /pets` with the `status` filter instead. The response headers `Deprecation`, `Sunset` and `Link` announce this too.
         */
        get: operations["getPet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/store/orders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List orders
         * @description Returns the account's orders in ascending order of `id`, one page at a time. If there are more, the `Link` header has the URL of the next page; follow it unchanged until there is none.
         */
        get: operations["listOrders"];
        put?: never;
        /**
         * Place an order
         * @description Places an order for an `available` animal, which becomes `pending`, and returns the order with its URL in `Location`. Of several concurrent orders for one animal, exactly one is placed. Unknown fields are ignored. To retry the request safely, send an `Idempotency-Key`.
         */
        post: operations["createOrder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/store/orders/{orderId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an order
         * @description Returns one of the account's orders by its `id`.
         */
        get: operations["getOrder"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/rate-limit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the rate limit usage
         * @description Returns the usage of the windows of the key's account, and the key's ban, if any. The request is not counted in any window, and is not rejected when a window is exhausted or the key is banned.
         */
        get: operations["getRateLimit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description `available`: the animal is for sale. `pending`: it is reserved. `sold`: it has been sold.
         * @enum {string}
         */
        PetStatus: "available" | "pending" | "sold";
        /** @description An animal to add. */
        NewPet: {
            /**
             * @description The animal's name; not only whitespace. It is stored as sent.
             * @example Rex
             */
            name: string;
            /**
             * Format: int64
             * @description Identifier of the category the animal belongs to.
             * @example 3
             */
            categoryId: bigint;
            /**
             * @description Availability of the animal.
             * @default available
             * @example available
             */
            status?: components["schemas"]["PetStatus"];
        };
        /** @description An animal of the store. */
        Pet: {
            /**
             * Format: int64
             * @description Unique identifier, assigned by the service on creation.
             * @example 1
             */
            id: bigint;
            /**
             * @description The animal's name.
             * @example Rex
             */
            name: string;
            /**
             * Format: int64
             * @description Identifier of the category the animal belongs to.
             * @example 3
             */
            categoryId: bigint;
            /**
             * @description Availability of the animal.
             * @example available
             */
            status: components["schemas"]["PetStatus"];
        };
        /**
         * @description `placed`: the order was received. `approved`: it was accepted. `delivered`: the animal has been delivered.
         * @enum {string}
         */
        OrderStatus: "placed" | "approved" | "delivered";
        /** @description An order to place. */
        NewOrder: {
            /**
             * Format: int64
             * @description Identifier of the animal; it must be `available`.
             * @example 1
             */
            petId: bigint;
            /**
             * Format: int32
             * @description Number of animals ordered.
             * @default 1
             * @example 1
             */
            quantity?: number;
            /**
             * Format: date-time
             * @description When to ship the order (RFC 3339), from 1970 to 9999; stored to the millisecond.
             * @example 2026-12-24T09:00:00Z
             */
            shipDate?: string;
        };
        /** @description An order of the account. */
        Order: {
            /**
             * Format: int64
             * @description Unique identifier, assigned by the service on creation.
             * @example 1
             */
            id: bigint;
            /**
             * Format: int64
             * @description Identifier of the animal.
             * @example 1
             */
            petId: bigint;
            /**
             * Format: int32
             * @description Number of animals ordered.
             * @example 1
             */
            quantity: number;
            /**
             * @description Progress of the order.
             * @example placed
             */
            status: components["schemas"]["OrderStatus"];
            /**
             * Format: date-time
             * @description When the order is to be shipped, in UTC; absent if not given.
             * @example 2026-12-24T09:00:00.000Z
             */
            shipDate?: string;
            /**
             * Format: date-time
             * @description When the order was placed, in UTC.
             * @example 2026-11-21T12:00:00.000Z
             */
            placedAt: string;
        };
        /** @description The usage of one window of the account. */
        RateLimitWindow: {
            /**
             * Format: int32
             * @description Request allowance of the plan for the window.
             * @example 60
             */
            limit: number;
            /**
             * Format: int32
             * @description Requests remaining in the window.
             * @example 59
             */
            remaining: number;
            /**
             * Format: int64
             * @description Unix timestamp at which the window ends, in seconds. If no window is open, this is the end of a window that would open now.
             * @example 1795219260
             */
            reset: bigint;
        };
        /** @description A temporary ban of the API key. */
        RateLimitBan: {
            /**
             * Format: int64
             * @description Unix timestamp at which the ban ends, in seconds.
             * @example 1795219260
             */
            reset: bigint;
        };
        /** @description The rate limit usage of the API key's account, and the key's ban, if any. */
        RateLimit: {
            /** @description The minute window, which opens at the first counted request. */
            minute: components["schemas"]["RateLimitWindow"];
            /** @description The UTC calendar day. */
            day: components["schemas"]["RateLimitWindow"];
            /** @description The key's ban; absent if the key is not banned. */
            ban?: components["schemas"]["RateLimitBan"];
        };
        /** @description The body of every error. */
        Error: {
            /**
             * @description Machine-readable error code. Codes may be added.
             * @example invalid_parameter
             * @example invalid_cursor
             * @example malformed_url
             * @example malformed_request
             * @example invalid_json
             * @example invalid_body
             * @example bad_request
             * @example unauthorized
             * @example forbidden
             * @example route_not_found
             * @example not_found
             * @example method_not_allowed
             * @example not_acceptable
             * @example request_timeout
             * @example conflict
             * @example gone
             * @example precondition_failed
             * @example body_too_large
             * @example uri_too_long
             * @example unsupported_media_type
             * @example unprocessable_content
             * @example too_many_requests
             * @example headers_too_large
             * @example internal_error
             * @example not_implemented
             * @example bad_gateway
             * @example service_unavailable
             * @example gateway_timeout
             * @example missing_api_key
             * @example invalid_api_key
             * @example expired_api_key
             * @example insufficient_scope
             * @example account_suspended
             * @example invalid_idempotency_key
             * @example idempotency_key_reused
             * @example pet_not_found
             * @example order_not_found
             * @example unknown_pet
             * @example pet_not_available
             * @example rate_limit_exceeded
             * @example daily_quota_exceeded
             * @example key_temporarily_banned
             * @example too_many_auth_failures
             */
            code: "invalid_parameter" | "invalid_cursor" | "malformed_url" | "malformed_request" | "invalid_json" | "invalid_body" | "bad_request" | "unauthorized" | "forbidden" | "route_not_found" | "not_found" | "method_not_allowed" | "not_acceptable" | "request_timeout" | "conflict" | "gone" | "precondition_failed" | "body_too_large" | "uri_too_long" | "unsupported_media_type" | "unprocessable_content" | "too_many_requests" | "headers_too_large" | "internal_error" | "not_implemented" | "bad_gateway" | "service_unavailable" | "gateway_timeout" | "missing_api_key" | "invalid_api_key" | "expired_api_key" | "insufficient_scope" | "account_suspended" | "invalid_idempotency_key" | "idempotency_key_reused" | "pet_not_found" | "order_not_found" | "unknown_pet" | "pet_not_available" | "rate_limit_exceeded" | "daily_quota_exceeded" | "key_temporarily_banned" | "too_many_auth_failures";
            /**
             * @description Human-readable description; may be reworded.
             * @example No animal has this petId.
             */
            message: string;
            /**
             * Format: int32
             * @description HTTP status code of the response.
             * @example 404
             */
            status: number;
        };
        /** Pets */
        Pets: components["schemas"]["Pet"][];
        /** Orders */
        Orders: components["schemas"]["Order"][];
    };
    responses: {
        /** @description The request is not valid. */
        BadRequest: {
            headers: {
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                Link: components["headers"]["Link-Help"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The request lacks valid credentials. */
        Unauthorized: {
            headers: {
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                Link: components["headers"]["Link-Help"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The API key does not allow this. */
        Forbidden: {
            headers: {
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate-Scope"];
                Link: components["headers"]["Link-Help"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The request did not arrive in time. */
        RequestTimeout: {
            headers: {
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                Link: components["headers"]["Link-Help"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The URL must be at most 8000 characters long. */
        URITooLong: {
            headers: {
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                Link: components["headers"]["Link-Help"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Too many requests. Try again later. */
        TooManyRequests: {
            headers: {
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After"];
                Link: components["headers"]["Link-Help"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The request header fields are too large. */
        RequestHeaderFieldsTooLarge: {
            headers: {
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                Link: components["headers"]["Link-Help"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description An internal error occurred. Report it with the X-Request-Id of this response. */
        InternalServerError: {
            headers: {
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                Link: components["headers"]["Link-Help"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The service does not implement this. */
        NotImplemented: {
            headers: {
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                Link: components["headers"]["Link-Help"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The service is temporarily unavailable. Retry after the number of seconds in Retry-After. */
        ServiceUnavailable: {
            headers: {
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After"];
                Link: components["headers"]["Link-Help"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body must be at most 65536 bytes. */
        PayloadTooLarge: {
            headers: {
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                Link: components["headers"]["Link-Help"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body must be application/json in UTF-8. */
        UnsupportedMediaType: {
            headers: {
                "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                Link: components["headers"]["Link-Help"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: {
        /**
         * @description Maximum number of entries returned.
         * @example 20
         */
        limit: number;
        /** @description Start of the page. Opaque: use the value from the `Link` header of the previous page, unchanged. */
        cursor: string;
        /**
         * @description An ID for the request, which is echoed in the response and appears in the logs. An invalid value is replaced by a generated one.
         * @example 2a1b6a3e-7c5d-4f10-9d0e-3f1c2b4a5d6e
         */
        "X-Request-Id": string;
        /**
         * @description Makes the request safe to retry: for 24 hours, the same key with the same body returns the first response again, with `Idempotent-Replayed: true`, and creates nothing. A random UUID is a good key. 1 to 255 visible ASCII characters, quoted or bare.
         * @example 8e03978e-40d5-43dd-bc93-6894a57f9324
         */
        "Idempotency-Key": string;
    };
    requestBodies: never;
    headers: {
        /**
         * @description Web pages from any origin may call the service.
         * @example *
         */
        "Access-Control-Allow-Origin": string;
        /**
         * @description Request allowance of the current plan for the window.
         * @example 300
         */
        "X-RateLimit-Limit": number;
        /**
         * @description Requests remaining in the window.
         * @example 299
         */
        "X-RateLimit-Remaining": number;
        /**
         * @description Unix timestamp, in seconds, at which the limit resets.
         * @example 1795219260
         */
        "X-RateLimit-Reset": bigint;
        /**
         * @description The limit of each window (`q`) and its length in seconds (`w`).
         * @example "minute";q=300;w=60, "day";q=10000;w=86400
         */
        "RateLimit-Policy": string;
        /**
         * @description The requests remaining in each window (`r`) and the seconds until it resets (`t`).
         * @example "minute";r=299;t=60, "day";r=9999;t=43200
         */
        RateLimit: string;
        /**
         * @description The ID of the request in the logs. A valid ID in the request is echoed; otherwise one is generated.
         * @example 2a1b6a3e-7c5d-4f10-9d0e-3f1c2b4a5d6e
         */
        "X-Request-Id": string;
        /**
         * @description Seconds to wait before the next request.
         * @example 42
         */
        "Retry-After": number;
        /**
         * @description The bearer challenge (RFC 6750).
         * @example Bearer realm="petstore", error="invalid_token"
         */
        "WWW-Authenticate": string;
        /**
         * @description Present when the API key lacks the required scope (RFC 6750 section 3.1).
         * @example Bearer realm="petstore", error="insufficient_scope"
         */
        "WWW-Authenticate-Scope": string;
        /**
         * @description The URL of the next page, with `rel="next"` (RFC 8288); absent on the last page.
         * @example <https://api.petstore.example/v1/pets?limit=20&cursor=AAAAAAAAABQeDVxO>; rel="next"
         */
        "Link-Next": string;
        /**
         * @description The URL of the created resource.
         * @example https://api.petstore.example/v1/pets/1
         */
        Location: string;
        /**
         * @description Present when this is the stored response of an earlier request with the same `Idempotency-Key`.
         * @example true
         */
        "Idempotent-Replayed": string;
        /**
         * @description The date on which the operation was deprecated (RFC 9745).
         * @example @1795219200
         */
        Deprecation: string;
        /**
         * @description The date on which the operation will be removed (RFC 8594).
         * @example Thu, 05 Dec 2030 00:00:00 GMT
         */
        Sunset: string;
        /**
         * @description The page that explains the deprecation (`rel="deprecation"`), and the operation to use instead (`rel="successor-version"`).
         * @example <https://api.petstore.example/docs/reference#/pets/getPet>; rel="deprecation"; type="text/html", <https://api.petstore.example/v1/pets>; rel="successor-version"
         */
        "Link-Deprecation": string;
        /**
         * @description The date on which the operation was deprecated (RFC 9745).
         * @example @1795219200
         */
        "Error-Deprecation": string;
        /**
         * @description The date on which the operation will be removed (RFC 8594).
         * @example Thu, 05 Dec 2030 00:00:00 GMT
         */
        "Error-Sunset": string;
        /**
         * @description The page that explains the error (`rel="help"`), after any deprecation links.
         * @example <https://api.petstore.example/docs/errors#pet_not_found>; rel="help"; type="text/html"
         */
        "Link-Help": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    /**
     * List animals. Returns animals by ascending `id`, one page at a time. If there are more, the `Link` header contains the URL of the next page: request it unchanged, until a response has none. Pagination is stable under inserts: no animal is repeated, and none that existed when the first page was requested is skipped.
     */
    listPets: {
        parameters: {
            query?: {
                /**
                 * @description Maximum number of entries returned.
                 * @example 20
                 */
                limit?: components["parameters"]["limit"];
                /** @description Start of the page. Opaque: use the value from the `Link` header of the previous page, unchanged. */
                cursor?: components["parameters"]["cursor"];
                /** @description Return only animals with this status. */
                status?: components["schemas"]["PetStatus"];
            };
            header?: {
                /**
                 * @description An ID for the request, which is echoed in the response and appears in the logs. An invalid value is replaced by a generated one.
                 * @example 2a1b6a3e-7c5d-4f10-9d0e-3f1c2b4a5d6e
                 */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of animals. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link-Next"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": 1,
                     *         "name": "Rex",
                     *         "categoryId": 3,
                     *         "status": "available"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["Pets"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            414: components["responses"]["URITooLong"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    /**
     * Add an animal. Stores an animal and returns it with the `id` that the service assigned, and its URL in `Location`. Unknown fields, and an `id` in the body, are ignored. To retry the request safely, send an `Idempotency-Key`.
     */
    createPet: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes the request safe to retry: for 24 hours, the same key with the same body returns the first response again, with `Idempotent-Replayed: true`, and creates nothing. A random UUID is a good key. 1 to 255 visible ASCII characters, quoted or bare.
                 * @example 8e03978e-40d5-43dd-bc93-6894a57f9324
                 */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /**
                 * @description An ID for the request, which is echoed in the response and appears in the logs. An invalid value is replaced by a generated one.
                 * @example 2a1b6a3e-7c5d-4f10-9d0e-3f1c2b4a5d6e
                 */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Rex",
                 *       "categoryId": 3,
                 *       "status": "available"
                 *     }
                 */
                "application/json": components["schemas"]["NewPet"];
            };
        };
        responses: {
            /** @description The stored animal. */
            201: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 1,
                     *       "name": "Rex",
                     *       "categoryId": 3,
                     *       "status": "available"
                     *     }
                     */
                    "application/json": components["schemas"]["Pet"];
                };
            };
            /** @description The request is not valid. */
            400: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link-Help"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["URITooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    /**
     * Get an animal. Returns one animal by its `id`. Deprecated, to be removed on 2030-12-05: use `GET /pets` with the `status` filter instead. The response headers `Deprecation`, `Sunset` and `Link` announce this too.
     * @deprecated It is removed on 2030-12-05.
     */
    getPet: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description An ID for the request, which is echoed in the response and appears in the logs. An invalid value is replaced by a generated one.
                 * @example 2a1b6a3e-7c5d-4f10-9d0e-3f1c2b4a5d6e
                 */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /**
                 * @description Identifier of the animal.
                 * @example 1
                 */
                petId: bigint;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The animal. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link-Deprecation"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 1,
                     *       "name": "Rex",
                     *       "categoryId": 3,
                     *       "status": "available"
                     *     }
                     */
                    "application/json": components["schemas"]["Pet"];
                };
            };
            /** @description The request is not valid. */
            400: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Deprecation: components["headers"]["Error-Deprecation"];
                    Sunset: components["headers"]["Error-Sunset"];
                    Link: components["headers"]["Link-Help"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description The API key does not allow this. */
            403: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate-Scope"];
                    Deprecation: components["headers"]["Error-Deprecation"];
                    Sunset: components["headers"]["Error-Sunset"];
                    Link: components["headers"]["Link-Help"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The requested resource does not exist. */
            404: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Deprecation: components["headers"]["Error-Deprecation"];
                    Sunset: components["headers"]["Error-Sunset"];
                    Link: components["headers"]["Link-Help"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            408: components["responses"]["RequestTimeout"];
            /** @description The URL must be at most 8000 characters long. */
            414: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Deprecation: components["headers"]["Error-Deprecation"];
                    Sunset: components["headers"]["Error-Sunset"];
                    Link: components["headers"]["Link-Help"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            /** @description An internal error occurred. Report it with the X-Request-Id of this response. */
            500: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Deprecation: components["headers"]["Error-Deprecation"];
                    Sunset: components["headers"]["Error-Sunset"];
                    Link: components["headers"]["Link-Help"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            501: components["responses"]["NotImplemented"];
            /** @description The service is temporarily unavailable. Retry after the number of seconds in Retry-After. */
            503: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Retry-After": components["headers"]["Retry-After"];
                    Deprecation: components["headers"]["Error-Deprecation"];
                    Sunset: components["headers"]["Error-Sunset"];
                    Link: components["headers"]["Link-Help"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    /**
     * List orders. Returns the account's orders in ascending order of `id`, one page at a time. If there are more, the `Link` header has the URL of the next page; follow it unchanged until there is none.
     * @experimental
     */
    listOrders: {
        parameters: {
            query?: {
                /**
                 * @description Maximum number of entries returned.
                 * @example 20
                 */
                limit?: components["parameters"]["limit"];
                /** @description Start of the page. Opaque: use the value from the `Link` header of the previous page, unchanged. */
                cursor?: components["parameters"]["cursor"];
                /** @description Return only orders with this status. */
                status?: components["schemas"]["OrderStatus"];
                /**
                 * @description Return only orders for this animal.
                 * @example 1
                 */
                petId?: bigint;
            };
            header?: {
                /**
                 * @description An ID for the request, which is echoed in the response and appears in the logs. An invalid value is replaced by a generated one.
                 * @example 2a1b6a3e-7c5d-4f10-9d0e-3f1c2b4a5d6e
                 */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of orders. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link-Next"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": 1,
                     *         "petId": 1,
                     *         "quantity": 1,
                     *         "status": "placed",
                     *         "shipDate": "2026-12-24T09:00:00.000Z",
                     *         "placedAt": "2026-11-21T12:00:00.000Z"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["Orders"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            414: components["responses"]["URITooLong"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    /**
     * Place an order. Places an order for an `available` animal, which becomes `pending`, and returns the order with its URL in `Location`. Of several concurrent orders for one animal, exactly one is placed. Unknown fields are ignored. To retry the request safely, send an `Idempotency-Key`.
     * @experimental
     */
    createOrder: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes the request safe to retry: for 24 hours, the same key with the same body returns the first response again, with `Idempotent-Replayed: true`, and creates nothing. A random UUID is a good key. 1 to 255 visible ASCII characters, quoted or bare.
                 * @example 8e03978e-40d5-43dd-bc93-6894a57f9324
                 */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /**
                 * @description An ID for the request, which is echoed in the response and appears in the logs. An invalid value is replaced by a generated one.
                 * @example 2a1b6a3e-7c5d-4f10-9d0e-3f1c2b4a5d6e
                 */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "petId": 1,
                 *       "quantity": 1,
                 *       "shipDate": "2026-12-24T09:00:00Z"
                 *     }
                 */
                "application/json": components["schemas"]["NewOrder"];
            };
        };
        responses: {
            /** @description The placed order. */
            201: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 1,
                     *       "petId": 1,
                     *       "quantity": 1,
                     *       "status": "placed",
                     *       "shipDate": "2026-12-24T09:00:00.000Z",
                     *       "placedAt": "2026-11-21T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Order"];
                };
            };
            /** @description The request is not valid. */
            400: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link-Help"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            /** @description The request conflicts with the current state. */
            409: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link-Help"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["URITooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    /**
     * Get an order. Returns one of the account's orders by its `id`.
     * @experimental
     */
    getOrder: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description An ID for the request, which is echoed in the response and appears in the logs. An invalid value is replaced by a generated one.
                 * @example 2a1b6a3e-7c5d-4f10-9d0e-3f1c2b4a5d6e
                 */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /**
                 * @description Identifier of the order.
                 * @example 1
                 */
                orderId: bigint;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The order. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 1,
                     *       "petId": 1,
                     *       "quantity": 1,
                     *       "status": "placed",
                     *       "shipDate": "2026-12-24T09:00:00.000Z",
                     *       "placedAt": "2026-11-21T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Order"];
                };
            };
            /** @description The request is not valid. */
            400: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link-Help"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            /** @description The requested resource does not exist. */
            404: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link-Help"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            408: components["responses"]["RequestTimeout"];
            414: components["responses"]["URITooLong"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    /**
     * Get the rate limit usage. Returns the usage of the windows of the key's account, and the key's ban, if any. The request is not counted in any window, and is not rejected when a window is exhausted or the key is banned.
     * @beta
     */
    getRateLimit: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description An ID for the request, which is echoed in the response and appears in the logs. An invalid value is replaced by a generated one.
                 * @example 2a1b6a3e-7c5d-4f10-9d0e-3f1c2b4a5d6e
                 */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rate limit usage. */
            200: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RateLimit"];
                };
            };
            /** @description The request is not valid. */
            400: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link-Help"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            414: components["responses"]["URITooLong"];
            /** @description Too many requests. Try again later. */
            429: {
                headers: {
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Retry-After": components["headers"]["Retry-After"];
                    Link: components["headers"]["Link-Help"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            501: components["responses"]["NotImplemented"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
}

/** Describes how to send each operation. */
export const OPERATIONS = {
    "listPets": {
        "method": "GET",
        "path": "/pets",
        "takesIdempotencyKey": false,
        "isRateLimited": true,
        "schema": "Pet",
        "isList": true,
        "required": [
            "id",
            "name",
            "categoryId",
            "status"
        ]
    },
    "createPet": {
        "method": "POST",
        "path": "/pets",
        "takesIdempotencyKey": true,
        "isRateLimited": true,
        "schema": "Pet",
        "isList": false,
        "required": [
            "id",
            "name",
            "categoryId",
            "status"
        ]
    },
    "getPet": {
        "method": "GET",
        "path": "/pets/{petId}",
        "takesIdempotencyKey": false,
        "isRateLimited": true,
        "schema": "Pet",
        "isList": false,
        "required": [
            "id",
            "name",
            "categoryId",
            "status"
        ]
    },
    "listOrders": {
        "method": "GET",
        "path": "/store/orders",
        "takesIdempotencyKey": false,
        "isRateLimited": true,
        "schema": "Order",
        "isList": true,
        "required": [
            "id",
            "petId",
            "quantity",
            "status",
            "placedAt"
        ]
    },
    "createOrder": {
        "method": "POST",
        "path": "/store/orders",
        "takesIdempotencyKey": true,
        "isRateLimited": true,
        "schema": "Order",
        "isList": false,
        "required": [
            "id",
            "petId",
            "quantity",
            "status",
            "placedAt"
        ]
    },
    "getOrder": {
        "method": "GET",
        "path": "/store/orders/{orderId}",
        "takesIdempotencyKey": false,
        "isRateLimited": true,
        "schema": "Order",
        "isList": false,
        "required": [
            "id",
            "petId",
            "quantity",
            "status",
            "placedAt"
        ]
    },
    "getRateLimit": {
        "method": "GET",
        "path": "/rate-limit",
        "takesIdempotencyKey": false,
        "isRateLimited": false,
        "schema": "RateLimit",
        "isList": false,
        "required": [
            "minute",
            "day"
        ]
    }
} as const;

/** Describes the schemas of responses: the fields that are `int64`, and those with another of these schemas. */
export const INT64_FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    "Pet": {
        "id": "int64",
        "categoryId": "int64"
    },
    "Order": {
        "id": "int64",
        "petId": "int64"
    },
    "RateLimit": {
        "minute": "RateLimitWindow",
        "day": "RateLimitWindow",
        "ban": "RateLimitBan"
    },
    "RateLimitWindow": {
        "reset": "int64"
    },
    "RateLimitBan": {
        "reset": "int64"
    }
};
