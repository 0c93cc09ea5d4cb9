import { Controller, Get, HttpStatus, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Settings } from '../../config/settings';
import { Idempotent } from '../../idempotency';
import { parsePositiveInt64 } from '../../shared/domain/int64';
import { ApiErrors } from '../../shared/http/api-errors';
import { LINK_NEXT_HEADER, LOCATION_HEADER } from '../../shared/http/api-headers';
import { int64Schema } from '../../shared/http/int64-schema';
import { JsonBody } from '../../shared/http/json-body';
import {
  ApiBody,
  ApiGroup,
  ApiOperation,
  ApiParam,
  ApiResponse,
  schemaPath,
} from '../../shared/http/openapi-decorators';
import { filtersOf, linkNext, startOf } from '../../shared/http/pages';
import { AccountId } from '../../shared/http/principal-of';
import { QueryPipe } from '../../shared/http/query.pipe';
import { Stability } from '../../versioning';
import { OrderNotFoundError } from '../domain/order-errors';
import { OrdersService } from '../orders.service';
import { ListOrdersRequest } from './list-orders.request';
import { NewOrderRequest } from './new-order.request';
import { OrderResponse } from './order.response';

@ApiGroup('orders', "The account's orders for animals.")
@Controller({ path: 'store/orders', version: '1' })
export class OrdersController {
  constructor(
    private readonly orders: OrdersService,
    private readonly settings: Settings,
  ) {}

  @Get()
  @Stability('experimental')
  @ApiOperation({
    operationId: 'listOrders',
    summary: 'List orders',
    description:
      "Answers with the account's own orders in ascending order of `id`, one page at a time. When more follow, the `Link` " +
      'header names the next page: follow its address as it is, until there is none.',
  })
  @ApiResponse({
    status: HttpStatus.OK,
    description: 'A page of orders.',
    headers: LINK_NEXT_HEADER,
    schema: { title: 'Orders', type: 'array', maxItems: 100, items: { $ref: schemaPath('Order') } },
  })
  @ApiErrors('invalid_parameter', 'invalid_cursor')
  async list(
    @AccountId() accountId: bigint,
    @Query(QueryPipe) query: ListOrdersRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OrderResponse[]> {
    const { status, petId } = query;
    const filters = filtersOf({ status, petId });
    const after = startOf(query, filters);
    const { orders, next } = await this.orders.page({ accountId, status, petId, after, limit: Number(query.limit) });
    if (next !== undefined) {
      linkNext(reply, this.address, query, filters, next);
    }
    return orders.map((order) => new OrderResponse(order));
  }

  @Post()
  @Stability('experimental')
  @Idempotent()
  @ApiOperation({
    operationId: 'createOrder',
    summary: 'Place an order',
    description:
      'Places an order for an `available` animal, which is `pending` from then on, and answers with the order and its ' +
      'address in `Location`. Of several orders for one animal, exactly one is placed. ' +
      'Unknown fields are ignored. Send an `Idempotency-Key` to be able to repeat the request safely.',
  })
  @ApiBody({ type: NewOrderRequest })
  @ApiResponse({
    status: HttpStatus.CREATED,
    description: 'The order as it was placed.',
    headers: LOCATION_HEADER,
    type: OrderResponse,
  })
  @ApiErrors(
    'invalid_json',
    'invalid_body',
    'unknown_pet',
    'pet_not_available',
    'body_too_large',
    'unsupported_media_type',
  )
  async create(
    @AccountId() accountId: bigint,
    @JsonBody() body: NewOrderRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OrderResponse> {
    const order = await this.orders.place(accountId, body);
    reply.header('location', `${this.address}/${order.id}`);
    return new OrderResponse(order);
  }

  @Get(':orderId')
  @Stability('experimental')
  @ApiOperation({
    operationId: 'getOrder',
    summary: 'Get an order',
    description: "Answers with one of the account's own orders, by its `id`.",
  })
  @ApiParam({
    name: 'orderId',
    description: 'Identifier of the order.',
    schema: { ...int64Schema(1n), example: 1 },
  })
  @ApiResponse({ status: HttpStatus.OK, description: 'The order.', type: OrderResponse })
  @ApiErrors('order_not_found')
  async get(@AccountId() accountId: bigint, @Param('orderId') orderId: string): Promise<OrderResponse> {
    const id = parsePositiveInt64(orderId);
    if (id === undefined) {
      throw new OrderNotFoundError();
    }
    return new OrderResponse(await this.orders.get(accountId, id));
  }

  private get address(): string {
    return `${this.settings.baseUrl}/store/orders`;
  }
}
