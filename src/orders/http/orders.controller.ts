import { Body, Controller, Get, Param, Post, Query, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiParam, getSchemaPath } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Settings } from '../../config/settings';
import { Idempotent, type Once } from '../../idempotency';
import { addLogFields } from '../../observability';
import { mapItems } from '../../shared/domain/page';
import { MAX_PAGE_LIMIT } from '../../shared/domain/page-limit';
import { ApiErrors } from '../../shared/openapi/api-errors';
import { ApiGroup } from '../../shared/openapi/api-group.decorator';
import { LINK_NEXT_HEADER, LOCATION_HEADER } from '../../shared/openapi/api-headers';
import { createInt64Schema } from '../../shared/openapi/int64-schema';
import { decodePageCursor, serializeFilters, setNextLink } from '../../shared/http/pagination/pagination';
import { getBaseUrl } from '../../shared/http/routing/base-url';
import { RequireScope } from '../../shared/http/access/require-scope.decorator';
import { ParseInt64Pipe } from '../../shared/http/validation/parse-int64.pipe';
import { AccountId } from '../../shared/http/access/request-principal';
import { Stability } from '../../versioning';
import { OrderNotFoundError } from '../domain/order-errors';
import { OrdersService } from '../orders.service';
import { CreateOrderDto } from './create-order.dto';
import { ListOrdersQueryDto } from './list-orders.dto';
import { OrderDto } from './order.dto';

@ApiGroup('orders', "The account's orders for animals.")
@Controller({ path: 'store/orders', version: '1' })
@RequireScope('orders:read', 'orders:write')
export class OrdersController {
  constructor(
    private readonly orders: OrdersService,
    private readonly settings: Settings,
  ) {}

  @Get()
  @Stability('experimental')
  @ApiOperation({
    summary: 'List orders',
    description:
      "Returns the account's orders in ascending order of `id`, one page at a time. If there are more, the `Link` " +
      'header has the URL of the next page; follow it unchanged until there is none.',
  })
  @ApiOkResponse({
    description: 'A page of orders.',
    headers: LINK_NEXT_HEADER,
    schema: { title: 'Orders', type: 'array', maxItems: MAX_PAGE_LIMIT, items: { $ref: getSchemaPath(OrderDto) } },
  })
  @ApiErrors('invalid_parameter', 'invalid_cursor')
  async listOrders(
    @AccountId() accountId: bigint,
    @Query() query: ListOrdersQueryDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OrderDto[]> {
    const { status, petId, limit } = query;
    const filters = serializeFilters({ status, petId });
    const page = await this.orders.list({ accountId, status, petId, after: decodePageCursor(query, filters), limit });
    setNextLink(reply, this.getUrl(reply), query, filters, page.next);
    return mapItems(page.items, OrderDto);
  }

  @Post()
  @Stability('experimental')
  @ApiOperation({
    summary: 'Place an order',
    description:
      'Places an order for an `available` animal, which becomes `pending`, and returns the order with its ' +
      'URL in `Location`. Of several concurrent orders for one animal, exactly one is placed. ' +
      'Unknown fields are ignored. To retry the request safely, send an `Idempotency-Key`.',
  })
  @ApiCreatedResponse({ description: 'The placed order.', headers: LOCATION_HEADER, type: OrderDto })
  @ApiErrors(
    'invalid_json',
    'invalid_body',
    'unknown_pet',
    'pet_not_available',
    'body_too_large',
    'unsupported_media_type',
  )
  createOrder(
    @AccountId() accountId: bigint,
    @Body() body: CreateOrderDto,
    @Idempotent() once: Once,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<unknown> {
    return once(async () => {
      const order = await this.orders.place(accountId, body);
      addLogFields(reply.request, { orderId: order.id });
      reply.header('location', `${this.getUrl(reply)}/${order.id}`);
      return new OrderDto(order);
    });
  }

  @Get(':orderId')
  @Stability('experimental')
  @ApiOperation({
    summary: 'Get an order',
    description: "Returns one of the account's orders by its `id`.",
  })
  @ApiParam({
    name: 'orderId',
    description: 'Identifier of the order.',
    schema: { ...createInt64Schema(1n), example: 1 },
  })
  @ApiOkResponse({ description: 'The order.', type: OrderDto })
  @ApiErrors('order_not_found')
  async getOrder(
    @AccountId() accountId: bigint,
    @Param('orderId', new ParseInt64Pipe({ exceptionFactory: () => new OrderNotFoundError() })) orderId: bigint,
  ): Promise<OrderDto> {
    return new OrderDto(await this.orders.get(accountId, orderId));
  }

  private getUrl({ request }: FastifyReply): string {
    return `${getBaseUrl(this.settings, request)}/store/orders`;
  }
}
