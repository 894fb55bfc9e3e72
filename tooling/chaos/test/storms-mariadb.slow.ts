import { stormsAreWeathered } from './storms.js';

stormsAreWeathered('mariadb');
